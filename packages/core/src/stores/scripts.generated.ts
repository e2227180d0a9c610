// Generated from the .lua files. Edit those and run `pnpm embed`.

export interface Script {
  readonly sha1: string;
  readonly source: string;
}

export const TAKE: Script = {
  sha1: 'dca56d558500aa81a8740bdc4c8bdfe40234769d',
  source: `local ALLOWED, EXHAUSTED, NEVER = 0, 1, 2
local function slidingWindowWaitMs(rule, prev, cur, e, cost)
  local L, W = rule.limit, rule.windowMs
  if cost > L then return -1 end
  if prev * (W - e) + (cur + cost) * W <= L * W then return 0 end
  if cur + cost <= L then return W - math.floor((L - cur - cost) * W / prev) - e end
  return W - e + W - math.floor((L - cost) * W / cur)
end
local slidingWindow = {
  decode = function(text)
    if not string.find(text, '^%d+$') then return nil end
    local d = tonumber(string.sub(text, -1))
    if d == 0 then d = 16 end
    local digits = #text - 1 - 2 * d
    if digits < 1 or digits > 16 then return nil end
    return {
      w = tonumber(string.sub(text, 1, digits)),
      prev = tonumber(string.sub(text, digits + 1, digits + d)),
      cur = tonumber(string.sub(text, digits + d + 1, digits + 2 * d)),
    }
  end,
  encode = function(state)
    local d = #string.format('%.0f', math.max(state.prev, state.cur))
    if d > 9 then d = 16 end
    local field = '%0' .. d .. '.0f'
    return string.format('%.0f' .. field .. field .. '%d', state.w, state.prev, state.cur, d % 16)
  end,
  step = function(state, rule, cost, now)
    local L, W = rule.limit, rule.windowMs
    local w = math.floor(now / W)
    local e = now - w * W
    local prev, cur, ahead, moved = 0, 0, 0, false
    if state then
      local d = state.w - w
      if d == 0 then
        prev, cur = state.prev, state.cur
      elseif d == -1 then
        prev = state.cur
      elseif d == 1 then
        w, prev, cur = state.w, state.prev, state.cur
        ahead = w * W - now
        e = 0
      elseif d > 1 then
        prev, cur = state.prev, state.cur
        moved = true
      end
    end
    local retryMs = slidingWindowWaitMs(rule, prev, cur, e, cost)
    local allowed = retryMs == 0
    if allowed then cur = cur + cost end
    local remaining = math.max(0, L - cur - math.ceil(prev * (W - e) / W))
    local nextMs = 0
    if remaining < L then nextMs = ahead + slidingWindowWaitMs(rule, prev, cur, e, remaining + 1) end
    local resetMs = 0
    if cur > 0 then resetMs = ahead + W - e + W elseif prev > 0 then resetMs = ahead + W - e end
    local status, retryAfterMs = ALLOWED, 0
    if not allowed then
      if cost > L then status, retryAfterMs = NEVER, -1 else status, retryAfterMs = EXHAUSTED, ahead + retryMs end
    end
    local stored = nil
    if (allowed and cost > 0) or moved then stored = { w = w, prev = prev, cur = cur } end
    return status, remaining, nextMs, resetMs, retryAfterMs, stored, (w + 2) * W - now
  end,
}
local ALGORITHMS = { sw = slidingWindow }
local GRACE_MS = 1000
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
return reply`,
};
