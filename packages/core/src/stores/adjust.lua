-- Changes counters other than by requests, all in one atomic step.
--
-- KEYS   the distinct keys
-- ARGV   as in common.lua; then number of changes; for each: kind (refund, debit, reset, block, unblock), index of key,
--        index of rule, units (of a block: its ms), the time of the charge (for a refund; else 0)
-- Reply  for each change 1 if it changed anything, else 0

local CHANGES = {
  refund = function(held, rule, units, at)
    if not held.state or units == 0 then return nil end
    return rule.algorithm.refund(held.state, rule, units, at, now)
  end,
  debit = function(held, rule, units)
    if units == 0 then return nil end
    return rule.algorithm.debit(held.state, rule, units, now)
  end,
}

local adjustments = {}
for i = 1, nextInteger(0, MAX_SAFE_INTEGER) do
  position = position + 1
  local kind = ARGV[position]
  if not CHANGES[kind] and kind ~= 'reset' and kind ~= 'block' and kind ~= 'unblock' then
    error({ err = 'ERR argument ' .. position .. ' is not a known kind of change' })
  end
  adjustments[i] = {
    kind = kind,
    key = nextInteger(1, #KEYS),
    rule = rules[nextInteger(1, #rules)],
    units = nextInteger(0, MAX_SAFE_INTEGER),
    at = nextInteger(0, MAX_SAFE_INTEGER),
  }
end

-- What the key holds then, or nil for no change.
local function toChanged(adjustment, held)
  local kind, rule, units = adjustment.kind, adjustment.rule, adjustment.units
  if CHANGES[kind] then
    local state = CHANGES[kind](held, rule, units, adjustment.at)
    -- A block that has ended goes with the next write.
    local block = liveBlock(held, now)
    return state and { state = state, block = block } or nil
  elseif kind == 'reset' then
    return (held.state or held.block) and {} or nil
  elseif kind == 'block' then
    return units > 0 and { state = held.state, block = { till = now + units, ms = units } } or nil
  else
    return liveBlock(held, now) and { state = held.state } or nil
  end
end

local reply = {}
for i, adjustment in ipairs(adjustments) do
  local held = toChanged(adjustment, readHeld(adjustment.key, adjustment.rule))
  if held then writeHeld(adjustment.key, adjustment.rule, held) end
  reply[i] = held and 1 or 0
end

writeChanged()
return reply
