// Generated from the .lua files. Edit those and run `pnpm embed`.

export interface Script {
  readonly sha1: string;
  readonly source: string;
}

const PROLOGUE = `local ALLOWED, EXHAUSTED, BLOCKED, NEVER = 0, 1, 2, 3
local MAX_SAFE_INTEGER = 9007199254740991
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
local function bucket()
  local MAX_USED = 4503599627370496
  local function drain(state, rule, now)
    local L, W = rule.limit, rule.windowMs
    if not state then return 0, now, 0, math.max(1, L), false end
    local rate = L == 0 and state.rate or L
    local d = state.t - now
    if d > W then return state.used, now, 0, rate, true end
    local used = d > 0 and state.used or math.max(0, state.used - (now - state.t) * state.rate)
    local moved = used > 0 and rate ~= state.rate
    return used, math.max(now, state.t), math.max(0, d), rate, moved
  end
  local function delayOf(rule, used, ahead)
    if not rule.maxDelayMs or rule.limit == 0 or used == 0 then return 0 end
    return ahead + math.ceil(used / rule.limit)
  end
  local function waitMs(rule, used, rate, cost, ahead)
    local over = used - (rule.burst - cost) * rule.windowMs
    local fitsIn = over > 0 and ahead + math.ceil(over / rate) or 0
    return math.max(fitsIn, delayOf(rule, used, ahead) - (rule.maxDelayMs or math.huge), 0)
  end
  return {
    decode = function(text)
      local numbers = numbersOf(text, 3)
      if not numbers or numbers[1] > MAX_SAFE_INTEGER or numbers[2] > MAX_SAFE_INTEGER or numbers[3] == 0 then return nil end
      return { used = numbers[1], t = numbers[2], rate = numbers[3] }
    end,
    encode = function(state)
      return string.format('%.0f:%.0f:%.0f', state.used, state.t, state.rate)
    end,
    step = function(state, rule, cost, now)
      local L, W, burst, maxDelayMs = rule.limit, rule.windowMs, rule.burst, rule.maxDelayMs
      local used, at, ahead, rate, moved = drain(state, rule, now)
      local never = cost > burst or (L == 0 and cost > 0)
      local retryMs = never and -1 or waitMs(rule, used, rate, cost, ahead)
      local allowed = retryMs == 0
      local after = allowed and used + cost * W or used
      local queueing = maxDelayMs and delayOf(rule, after, ahead) > maxDelayMs
      local remaining = (L == 0 or queueing) and 0 or math.max(0, math.floor((burst * W - after) / W))
      local nextMs = L > 0 and remaining < burst and waitMs(rule, after, rate, remaining + 1, ahead) or 0
      local resetMs = after > 0 and ahead + math.ceil(after / rate) or 0
      local status = allowed and ALLOWED or never and NEVER or EXHAUSTED
      local retryAfterMs = allowed and 0 or retryMs
      local delayMs = allowed and delayOf(rule, used, ahead) or 0
      local stored = ((allowed and cost > 0) or moved) and { used = after, t = at, rate = rate } or nil
      return status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, stored
    end,
    refund = function(state, rule, units, at, now)
      local used, later = drain(state, rule, now)
      local left = math.min(used, units * rule.windowMs - math.max(0, later - at) * state.rate)
      return left > 0 and { used = used - left, t = later, rate = state.rate } or nil
    end,
    debit = function(state, rule, units, now)
      local used, at, _, rate = drain(state, rule, now)
      return { used = math.max(used, math.min(used + units * rule.windowMs, MAX_USED)), t = at, rate = rate }
    end,
    lifeMs = function(state, _, now)
      return state.t - now + math.ceil(state.used / state.rate)
    end,
  }
end
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
local function lifeMsOf(held, rule, now)
  local stateMs = held.state and rule.algorithm.lifeMs(held.state, rule, now) or 0
  local blockMs = held.block and held.block.till - now or 0
  return math.max(stateMs, blockMs)
end
local function liveBlock(held, now)
  local block = held.block
  if not block or block.till <= now then return nil, false end
  if block.till - now > block.ms then return { till = now + block.ms, ms = block.ms }, true end
  return block, false
end
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
  if remaining > 0 then nextMs = leftMs else nextMs = math.max(leftMs, nextMs) end
  if status ~= NEVER then status, retryAfterMs = BLOCKED, math.max(leftMs, retryAfterMs) end
  return status, 0, nextMs, math.max(leftMs, resetMs), retryAfterMs, 0, at, written
end
local function fixedWindow()
  local function roll(state, W, now)
    local w = math.floor(now / W)
    local e = now - w * W
    if not state or state.w < w then return w, 0, e, 0, false end
    if state.w == w then return w, state.n, e, 0, false end
    if state.w == w + 1 then return state.w, state.n, 0, state.w * W - now, false end
    return w, state.n, e, 0, true
  end
  return {
    decode = function(text)
      if not string.find(text, '^%d+$') then return nil end
      local d = tonumber(string.sub(text, -1))
      if d == 0 then d = 16 end
      local digits = #text - 1 - d
      if digits < 1 or digits > 16 then return nil end
      return { w = tonumber(string.sub(text, 1, digits)), n = tonumber(string.sub(text, digits + 1, digits + d)) }
    end,
    encode = function(state)
      local d = #string.format('%.0f', state.n)
      if d > 9 then d = 16 end
      return string.format('%.0f%0' .. d .. '.0f%d', state.w, state.n, d % 16)
    end,
    step = function(state, rule, cost, now)
      local L, W = rule.limit, rule.windowMs
      local w, n, e, ahead, moved = roll(state, W, now)
      local allowed = n + cost <= L
      local used = allowed and n + cost or n
      local remaining = math.max(0, L - used)
      local endMs = ahead + W - e
      local status = allowed and ALLOWED or cost > L and NEVER or EXHAUSTED
      local retryAfterMs = allowed and 0 or cost > L and -1 or endMs
      local resetMs = used > 0 and endMs or 0
      local stored = ((allowed and cost > 0) or moved) and { w = w, n = used } or nil
      return status, remaining, remaining < L and endMs or 0, resetMs, retryAfterMs, 0, now + ahead, stored
    end,
    refund = function(state, rule, units, at, now)
      local W = rule.windowMs
      local charged = math.floor(at / W)
      if math.floor(now / W) > charged then return nil end
      if state.w ~= charged or state.n == 0 then return nil end
      return { w = state.w, n = math.max(0, state.n - units) }
    end,
    debit = function(state, rule, units, now)
      local W = rule.windowMs
      local w, n = roll(state, W, now)
      return { w = w, n = math.min(n + units, math.floor(MAX_SAFE_INTEGER / W)) }
    end,
    lifeMs = function(state, rule, now)
      return (state.w + 1) * rule.windowMs - now
    end,
  }
end
local leakyBucket = bucket
local function slidingLog()
  local MAX_UNITS = 8388607
  local MODULUS = 16777216
  local byte, char, sub, floor = string.byte, string.char, string.sub, math.floor
  local function toBytes3(n)
    return char(floor(n / 65536), floor(n / 256) % 256, n % 256)
  end
  local function toEntry(time, sum)
    local high, low = floor(time / 16777216), time % 16777216
    return toBytes3(high) .. toBytes3(low) .. toBytes3(sum)
  end
  local function timeOf(log, i)
    local a, b, c, d, e, f = byte(log.entries, 9 * i - 8, 9 * i - 3)
    return ((((a * 256 + b) * 256 + c) * 256 + d) * 256 + e) * 256 + f
  end
  local function sumOf(log, i)
    if i == 0 then return 0 end
    local a, b, c = byte(log.entries, 9 * i - 2, 9 * i)
    return ((a * 256 + b) * 256 + c - log.base) % MODULUS
  end
  local function total(log)
    return sumOf(log, log.count)
  end
  local function firstWhere(log, holds)
    local low, high = 1, log.count + 1
    while low < high do
      local middle = floor((low + high) / 2)
      if holds(middle) then high = middle else low = middle + 1 end
    end
    return low
  end
  local function roll(state, rule, now)
    local W = rule.windowMs
    local log = state or { entries = '', count = 0, base = 0 }
    local last = log.count > 0 and timeOf(log, log.count) or now
    local moved = last - now > W
    local shift = moved and now - last or 0
    local at = moved and now or math.max(now, last)
    local from = firstWhere(log, function(i) return timeOf(log, i) + shift > at - W end)
    local rest = { entries = log.entries, count = log.count, base = log.base }
    if from > 1 then
      rest.entries = sub(log.entries, 9 * (from - 1) + 1)
      rest.count = log.count - (from - 1)
      rest.base = (log.base + sumOf(log, from - 1)) % MODULUS
    end
    if shift ~= 0 then
      local shifted = {}
      for i = 1, rest.count do shifted[i] = toEntry(timeOf(rest, i) + shift, (sumOf(rest, i) + rest.base) % MODULUS) end
      rest.entries = table.concat(shifted)
    end
    return rest, at, at - now, moved
  end
  local function append(log, at, units)
    if units == 0 then return log end
    local entry = toEntry(at, (total(log) + units + log.base) % MODULUS)
    if log.count > 0 and timeOf(log, log.count) == at then
      return { entries = sub(log.entries, 1, -10) .. entry, count = log.count, base = log.base }
    end
    return { entries = log.entries .. entry, count = log.count + 1, base = log.base }
  end
  local function waitMs(log, rule, at, cost)
    local need = total(log) + cost - rule.limit
    if need <= 0 then return 0 end
    local low = firstWhere(log, function(i) return sumOf(log, i) >= need end)
    return timeOf(log, low) + rule.windowMs - at
  end
  return {
    decode = function(text)
      local count = (#text - 4) / 9
      if sub(text, 1, 1) ~= 'L' or count < 0 or count ~= floor(count) then return nil end
      local a, b, c = byte(text, 2, 4)
      local log = { entries = sub(text, 5), count = count, base = (a * 256 + b) * 256 + c }
      if count > 0 and timeOf(log, 1) > timeOf(log, count) then return nil end
      return log
    end,
    encode = function(log)
      return 'L' .. toBytes3(log.base) .. log.entries
    end,
    step = function(state, rule, cost, now)
      local L = rule.limit
      local log, at, ahead, moved = roll(state, rule, now)
      local allowed = total(log) + cost <= L
      local after = allowed and append(log, at, cost) or log
      local remaining = math.max(0, L - total(after))
      local nextMs = remaining < L and ahead + waitMs(after, rule, at, remaining + 1) or 0
      local last = after.count > 0 and timeOf(after, after.count)
      local resetMs = last and ahead + last + rule.windowMs - at or 0
      local status = allowed and ALLOWED or cost > L and NEVER or EXHAUSTED
      local retryAfterMs = allowed and 0 or cost > L and -1 or ahead + waitMs(log, rule, at, cost)
      local stored = ((allowed and cost > 0) or moved) and after or nil
      return status, remaining, nextMs, resetMs, retryAfterMs, 0, at, stored
    end,
    refund = function(log, rule, units, at, now)
      local i = firstWhere(log, function(j) return timeOf(log, j) >= at end)
      if i > log.count or timeOf(log, i) ~= at or now - at >= rule.windowMs then return nil end
      local before = sumOf(log, i - 1)
      local given = math.min(units, sumOf(log, i) - before)
      local gone = sumOf(log, i) - given == before
      local rest = { sub(log.entries, 1, 9 * (i - 1)) }
      for j = gone and i + 1 or i, log.count do
        rest[#rest + 1] = toEntry(timeOf(log, j), (sumOf(log, j) - given + log.base) % MODULUS)
      end
      return { entries = table.concat(rest), count = gone and log.count - 1 or log.count, base = log.base }
    end,
    debit = function(state, rule, units, now)
      local log, at = roll(state, rule, now)
      return append(log, at, math.min(units, MAX_UNITS - total(log)))
    end,
    lifeMs = function(log, rule, now)
      return (log.count > 0 and timeOf(log, log.count) or now - rule.windowMs) + rule.windowMs - now
    end,
  }
end
local function slidingWindow()
  local function roll(state, W, now)
    local w = math.floor(now / W)
    local e = now - w * W
    local d = state and state.w - w or -2
    if d < -1 then return w, 0, 0, e, 0, false end
    if d == -1 then return w, state.cur, 0, e, 0, false end
    if d == 0 then return w, state.prev, state.cur, e, 0, false end
    if d == 1 then return state.w, state.prev, state.cur, 0, state.w * W - now, false end
    return w, state.prev, state.cur, e, 0, true
  end
  local function waitMs(rule, prev, cur, e, cost)
    local L, W = rule.limit, rule.windowMs
    if cost > L then return -1 end
    if prev * (W - e) + (cur + cost) * W <= L * W then return 0 end
    if cur + cost <= L then return W - math.floor((L - cur - cost) * W / prev) - e end
    return W - e + W - math.floor((L - cost) * W / cur)
  end
  return {
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
      local w, prev, cur, e, ahead, moved = roll(state, W, now)
      local retryMs = waitMs(rule, prev, cur, e, cost)
      local allowed = retryMs == 0
      local used = allowed and cur + cost or cur
      local remaining = math.max(0, L - used - math.ceil(prev * (W - e) / W))
      local nextMs = remaining < L and ahead + waitMs(rule, prev, used, e, remaining + 1) or 0
      local resetMs = 0
      if used > 0 then resetMs = ahead + W - e + W
      elseif prev > 0 then resetMs = ahead + W - e end
      local status = allowed and ALLOWED or cost > L and NEVER or EXHAUSTED
      local retryAfterMs = allowed and 0 or cost > L and -1 or ahead + retryMs
      local stored = ((allowed and cost > 0) or moved) and { w = w, prev = prev, cur = used } or nil
      return status, remaining, nextMs, resetMs, retryAfterMs, 0, now + ahead, stored
    end,
    refund = function(state, rule, units, at, now)
      local W = rule.windowMs
      local charged = math.floor(at / W)
      if math.floor(now / W) > charged + 1 then return nil end
      local w, prev, cur = state.w, state.prev, state.cur
      if w == charged and cur > 0 then return { w = w, prev = prev, cur = math.max(0, cur - units) } end
      if w == charged + 1 and prev > 0 then return { w = w, prev = math.max(0, prev - units), cur = cur } end
      return nil
    end,
    debit = function(state, rule, units, now)
      local W = rule.windowMs
      local w, prev, cur = roll(state, W, now)
      return { w = w, prev = prev, cur = math.min(cur + units, math.floor(MAX_SAFE_INTEGER / W)) }
    end,
    lifeMs = function(state, rule, now)
      return (state.w + 2) * rule.windowMs - now
    end,
  }
end
local tokenBucket = bucket
local ALGORITHMS = { sw = slidingWindow, tb = tokenBucket, lb = leakyBucket, fw = fixedWindow, sl = slidingLog }
local GRACE_MS = 1000
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
end`;

export const ADJUST: Script = {
  sha1: 'b1a194666727638dd35174c50b5f15a7d4d94d9f',
  source: `${PROLOGUE}
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
local function toChanged(adjustment, held)
  local kind, rule, units = adjustment.kind, adjustment.rule, adjustment.units
  if CHANGES[kind] then
    local state = CHANGES[kind](held, rule, units, adjustment.at)
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
return reply`,
};

export const TAKE: Script = {
  sha1: 'f20dd57603d8e2beb9204a45222b06083eaa075c',
  source: `${PROLOGUE}
local FIELDS = 7
local writes = nextInteger(0, 1) == 1
local requests = {}
for i = 1, nextInteger(0, MAX_SAFE_INTEGER) do
  local limits = {}
  for j = 1, nextInteger(0, MAX_SAFE_INTEGER) do
    limits[j] = { key = nextInteger(1, #KEYS), rule = rules[nextInteger(1, #rules)], cost = nextInteger(0, MAX_SAFE_INTEGER) }
  end
  requests[i] = limits
end
local reply = {}
for _, limits in ipairs(requests) do
  local first, allowed = #reply, true
  for i, limit in ipairs(limits) do
    local key, rule = limit.key, limit.rule
    local before = readHeld(key, rule)
    local status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, written = advance(before, rule, limit.cost, now)
    limit.before, limit.wasChanged, limit.written, limit.passed = before, changed[key], written, status == ALLOWED
    if written then writeHeld(key, rule, written) end
    if status ~= ALLOWED then allowed = false end
    local n = first + FIELDS * (i - 1)
    reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = status, remaining, nextMs, resetMs
    reply[n + 5], reply[n + 6], reply[n + 7] = retryAfterMs, delayMs, at
  end
  if not allowed or not writes then
    for i = #limits, 1, -1 do
      local limit = limits[i]
      helds[limit.key], changed[limit.key] = limit.before, limit.wasChanged
    end
    for i, limit in ipairs(limits) do
      if limit.passed or limit.written then
        local held = readHeld(limit.key, limit.rule)
        local _, remaining, nextMs, resetMs, _, _, _, read = advance(held, limit.rule, 0, now)
        if limit.passed then
          local n = first + FIELDS * (i - 1)
          reply[n + 2], reply[n + 3], reply[n + 4] = remaining, nextMs, resetMs
        elseif writes and limit.written.block then
          read = { state = (read or held).state, block = limit.written.block }
        end
        if read then writeHeld(limit.key, limit.rule, read) end
      end
    end
  end
end
if writes then writeChanged() end
return reply`,
};
