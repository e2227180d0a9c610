-- The status that a step answers; twin of DenialReason in algorithm.ts.
local ALLOWED, EXHAUSTED, BLOCKED, NEVER = 0, 1, 2, 3
-- The largest whole number that a double holds exactly.
local MAX_SAFE_INTEGER = 9007199254740991

-- Every algorithm is a function that makes a table of what follows. It is called when a rule first names the algorithm:
-- making all of them for each call would cost more than the decision.
--   decode(text) -> state, or nil for anything that encode did not write
--   encode(state) -> text
--   step(state or nil, rule, cost, now) -> status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, state to store or nil
--   refund(state, rule, units, at, now) -> state to store or nil
--   debit(state or nil, rule, units, now) -> state to store
--   lifeMs(state, rule, now) -> how long the state can still matter
-- retryAfterMs is -1 for never.

-- Whole numbers of up to 16 digits, joined by colons, and nothing else; nil for other text.
local function numbersOf(text, count)
  if not string.find(text, '^%d[%d:]*%d$') then return nil end
  local numbers = {}
  for digits in string.gmatch(text, '%d+') do
    if #digits > 16 then return nil end
    numbers[#numbers + 1] = tonumber(digits)
  end
  if #numbers ~= count then return nil end
  return numbers
end
