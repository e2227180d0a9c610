-- Decides the limits of one or more requests in one atomic step: all limits of a request are charged, or none.
--
-- KEYS   the distinct keys of the batch
-- ARGV   number of rules R, number of requests N
--        R times: algorithm, limit, windowMs, burst
--        N times, in the order of arrival: number of limits M, then M times: index of key, index of rule, cost
--        optionally last: the time in ms (tests, and stores without a clock); else the server's TIME, read once
-- Reply  one flat array of integers, 5 per limit in the order of ARGV:
--        status (0 allowed, 1 exhausted, 2 never), remaining, nextMs, resetMs, retryAfterMs (-1 for never)

local ALGORITHMS = { sw = slidingWindow }
-- How much longer than its state a key lives, so that a small step of the clock cannot expire what still counts.
local GRACE_MS = 1000

-- Every argument is checked before the first write: Redis does not roll back a script that fails half-way.
local position = 0
local function nextInteger(max)
  position = position + 1
  local value = tonumber(ARGV[position])
  if not value or value ~= math.floor(value) or value < 0 or value > max then
    error({ err = 'ERR take: argument ' .. position .. ' is not an integer from 0 to ' .. string.format('%.0f', max) })
  end
  return value
end

local MAX = 9007199254740991
local ruleCount, requestCount = nextInteger(MAX), nextInteger(MAX)
local rules = {}
for i = 1, ruleCount do
  position = position + 1
  local algorithm = ALGORITHMS[ARGV[position]]
  if not algorithm then error({ err = 'ERR take: argument ' .. position .. ' is not a known algorithm' }) end
  rules[i] = { algorithm = algorithm, limit = nextInteger(MAX), windowMs = nextInteger(MAX), burst = nextInteger(MAX) }
end
local requests = {}
for i = 1, requestCount do
  local limits = {}
  for j = 1, nextInteger(MAX) do
    limits[j] = { key = nextInteger(#KEYS), rule = rules[nextInteger(ruleCount)], cost = nextInteger(MAX) }
  end
  requests[i] = limits
end
local now
if ARGV[position + 1] then
  now = nextInteger(MAX)
else
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- MGET reads a key of another type as nil, so that it can neither fail its neighbours nor stay: SET replaces it.
local stored = redis.call('MGET', unpack(KEYS))
local states, changed, expiresMs = {}, {}, {}

local function stateOf(limit)
  local state = states[limit.key]
  if state == nil then
    state = stored[limit.key] and limit.rule.algorithm.decode(stored[limit.key]) or false
    states[limit.key] = state
  end
  return state or nil
end

local function store(limit, state, lifeMs)
  states[limit.key], changed[limit.key], expiresMs[limit.key] = state, limit.rule.algorithm, lifeMs
end

local reply = {}
for _, limits in ipairs(requests) do
  local first, allowed = #reply, true
  local before, wasChanged, moved = {}, {}, {}
  for i, limit in ipairs(limits) do
    before[i], wasChanged[i] = stateOf(limit) or false, changed[limit.key] or false
    local status, remaining, nextMs, resetMs, retryAfterMs, state, lifeMs =
      limit.rule.algorithm.step(before[i] or nil, limit.rule, limit.cost, now)
    if state then store(limit, state, lifeMs) end
    if status ~= ALLOWED then allowed = false end
    moved[i] = state and status ~= ALLOWED
    local at = first + 5 * (i - 1)
    reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reply[at + 5] =
      status, remaining, nextMs, resetMs, retryAfterMs
  end
  if not allowed then
    -- Nothing is charged. The limits that would have passed report their uncharged quota: a step at cost 0.
    for i = #limits, 1, -1 do
      states[limits[i].key], changed[limits[i].key] = before[i], wasChanged[i] or nil
    end
    for i, limit in ipairs(limits) do
      local at = first + 5 * (i - 1)
      if reply[at + 1] == ALLOWED or moved[i] then
        local _, remaining, nextMs, resetMs, _, state, lifeMs =
          limit.rule.algorithm.step(stateOf(limit), limit.rule, 0, now)
        if state then store(limit, state, lifeMs) end
        if reply[at + 1] == ALLOWED then
          reply[at + 2], reply[at + 3], reply[at + 4] = remaining, nextMs, resetMs
        end
      end
    end
  end
end

for key, algorithm in pairs(changed) do
  redis.call('SET', KEYS[key], algorithm.encode(states[key]), 'PX', string.format('%.0f', expiresMs[key] + GRACE_MS))
end
return reply
