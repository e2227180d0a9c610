-- The meter that token bucket and leaky bucket share. Twin of bucket.ts: the same names, the same order of lines.
--
-- State    { used, t, rate }: what is in it, in units of 1/windowMs, at a time, and how much drains per ms since
-- Encoding used:t:rate

local function bucket()
  local MAX_USED = 4503599627370496

  -- The state as it is at now: used, at, ahead, rate, moved.
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

  -- How long a request would wait for its turn behind what is used.
  local function delayOf(rule, used, ahead)
    if not rule.maxDelayMs or rule.limit == 0 or used == 0 then return 0 end
    return ahead + math.ceil(used / rule.limit)
  end

  -- How long until cost passes if nothing more comes: until it fits, and until its turn is near enough.
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
