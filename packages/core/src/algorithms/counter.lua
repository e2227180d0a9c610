-- What a key holds: the state of its algorithm under the block that its partition may be in. Twin of counter.ts.
--
-- Held     { state = state or nil, block = { till, ms } or nil }
-- Encoding the state as its algorithm writes it, behind !till!ms! where there is a block

local function decodeHeld(text, algorithm)
  if not text then return {} end
  local block
  if string.sub(text, 1, 1) == '!' then
    local till, ms, rest = string.match(text, '^!(%d+)!(%d+)!(.*)$')
    if not till or #till > 16 or #ms > 10 then return {} end
    block, text = { till = tonumber(till), ms = tonumber(ms) }, rest
  end
  return { state = text ~= '' and algorithm.decode(text) or nil, block = block }
end

local function encodeHeld(held, algorithm)
  local text = held.state and algorithm.encode(held.state) or ''
  if held.block then text = string.format('!%.0f!%.0f!', held.block.till, held.block.ms) .. text end
  return text
end

-- How long a held state or block can still matter.
local function lifeMsOf(held, rule, now)
  local stateMs = held.state and rule.algorithm.lifeMs(held.state, rule, now) or 0
  local blockMs = held.block and held.block.till - now or 0
  return math.max(stateMs, blockMs)
end

-- A block that still bars, and whether the clock was moved back since it was made: it then starts anew.
local function liveBlock(held, now)
  local block = held.block
  if not block or block.till <= now then return nil, false end
  if block.till - now > block.ms then return { till = now + block.ms, ms = block.ms }, true end
  return block, false
end

-- The step of a limit under a block: status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, what to store or nil
local function advance(held, rule, cost, now)
  local step = rule.algorithm.step
  if not held.block and rule.blockMs == 0 then
    local status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, state = step(held.state, rule, cost, now)
    return status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, state and { state = state }
  end
  local block, moved = liveBlock(held, now)
  local status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, state = step(held.state, rule, cost, now)
  local leftMs, written
  if block then
    -- Nothing is charged under a block; only a clock that was moved is written down.
    local _, anchored
    _, remaining, nextMs, resetMs, _, _, _, anchored = step(held.state, rule, 0, now)
    leftMs = block.till - now
    if moved or anchored then written = { state = anchored or held.state, block = block } end
  elseif rule.blockMs > 0 and cost > 0 and status == EXHAUSTED then
    leftMs = rule.blockMs
    written = { state = state or held.state, block = { till = now + rule.blockMs, ms = rule.blockMs } }
  else
    if state then written = { state = state } end
    return status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, written
  end
  -- Times are those of the limit, or of the block where that lasts longer.
  if remaining > 0 then nextMs = leftMs else nextMs = math.max(leftMs, nextMs) end
  if status ~= NEVER then status, retryAfterMs = BLOCKED, math.max(leftMs, retryAfterMs) end
  return status, 0, nextMs, math.max(leftMs, resetMs), retryAfterMs, 0, at, written
end
