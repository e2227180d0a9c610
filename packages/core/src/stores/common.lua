-- What take.lua and adjust.lua begin with: the arguments that both have, and the counters behind KEYS.
--
-- ARGV   the time in ms (tests, and stores without a clock), or -1 for the server's TIME, read once
--        number of rules; for each: algorithm, limit, windowMs; and burst, maxDelayMs (-1 for none), blockMs where the
--        algorithm's code is followed by a plus sign (else the limit, none and 0)
--        then what the script says

local ALGORITHMS = { sw = slidingWindow, tb = tokenBucket, lb = leakyBucket, fw = fixedWindow, sl = slidingLog }
-- How much longer than its state a key lives, so that a small step of the clock cannot expire what still counts.
local GRACE_MS = 1000

-- Every argument is checked before the first write: Redis does not roll back a script that fails half-way.
local position = 0
local function nextInteger(min, max)
  position = position + 1
  local value = tonumber(ARGV[position])
  if not value or value ~= math.floor(value) or value < min or value > max then
    error({ err = string.format('ERR argument %d is not an integer from %.0f to %.0f', position, min, max) })
  end
  return value
end

local function nextRule()
  position = position + 1
  local code, more = string.sub(ARGV[position] or '', 1, 2), string.sub(ARGV[position] or '', 3)
  local algorithm = ALGORITHMS[code]
  if not algorithm or (more ~= '' and more ~= '+') then
    error({ err = 'ERR argument ' .. position .. ' is not a known algorithm' })
  end
  if type(algorithm) == 'function' then
    algorithm = algorithm()
    ALGORITHMS[code] = algorithm
  end
  local limit, windowMs = nextInteger(0, MAX_SAFE_INTEGER), nextInteger(1, MAX_SAFE_INTEGER)
  local rule = { algorithm = algorithm, limit = limit, windowMs = windowMs, burst = limit, blockMs = 0 }
  if more == '+' then
    rule.burst = nextInteger(0, MAX_SAFE_INTEGER)
    local maxDelayMs = nextInteger(-1, MAX_SAFE_INTEGER)
    if maxDelayMs >= 0 then rule.maxDelayMs = maxDelayMs end
    rule.blockMs = nextInteger(0, MAX_SAFE_INTEGER)
  end
  return rule
end

local now = nextInteger(-1, MAX_SAFE_INTEGER)
local rules = {}
for i = 1, nextInteger(0, MAX_SAFE_INTEGER) do rules[i] = nextRule() end
if now == -1 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local stored
local helds, changed = {}, {}

-- MGET reads a key of another type as nil, so that it can neither fail its neighbours nor stay: SET replaces it.
local function readHeld(key, rule)
  if not stored then stored = redis.call('MGET', unpack(KEYS)) end
  local held = helds[key]
  if not held then
    held = decodeHeld(stored[key], rule.algorithm)
    helds[key] = held
  end
  return held
end

local function writeHeld(key, rule, held)
  helds[key], changed[key] = held, rule
end

local function writeChanged()
  for key, rule in pairs(changed) do
    local held = helds[key]
    if held.state or held.block then
      local text = encodeHeld(held, rule.algorithm)
      redis.call('SET', KEYS[key], text, 'PX', math.max(0, lifeMsOf(held, rule, now)) + GRACE_MS)
    else
      redis.call('DEL', KEYS[key])
    end
  end
end
