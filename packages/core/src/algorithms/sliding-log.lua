-- Sliding log. Twin of sliding-log.ts: the same names, the same order of lines.
--
-- State    { entries, count, base }: 9 bytes an entry, how many there are, and the sum before the first, modulo 2^24
-- Entry    the time in ms (6 bytes) and the sum of all units from the first entry to it, modulo 2^24 (3 bytes)
-- Encoding the letter L, base (3 bytes), the entries. Sums go on from entry to entry, so that dropping the oldest ones
--          and adding a new one copies bytes and changes none.

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

  -- The sum of units from the first entry of the log to this one; 0 before the first.
  local function sumOf(log, i)
    if i == 0 then return 0 end
    local a, b, c = byte(log.entries, 9 * i - 2, 9 * i)
    return ((a * 256 + b) * 256 + c - log.base) % MODULUS
  end

  local function total(log)
    return sumOf(log, log.count)
  end

  -- The first entry for which a condition holds that stays true from there on; count + 1 if there is none.
  local function firstWhere(log, holds)
    local low, high = 1, log.count + 1
    while low < high do
      local middle = floor((low + high) / 2)
      if holds(middle) then high = middle else low = middle + 1 end
    end
    return low
  end

  -- What still counts at now: log, at, ahead, moved.
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

  -- How long until enough of the oldest entries have gone for cost to fit, which must be at most the limit.
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
      -- Times only grow. All of them would take too long to look at, and what encode wrote needs no more than this.
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
