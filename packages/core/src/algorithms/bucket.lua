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

  -- How long until cost passes if nothing more comes: until it fits, and until its turn is near enough.
  local function waitMs(rule, used, rate, cost)
    local over = used - (rule.burst - cost) * rule.windowMs
    local early = 0
    if rule.maxDelayMs and rule.limit > 0 then early = used - rule.maxDelayMs * rule.limit end
    return math.max(0, math.ceil(math.max(over, early) / rate))
  end

  return {
    decode = function(text)
      local numbers = numbersOf(text, 3)
      if not numbers or numbers[3] == 0 then return nil end
      return { used = numbers[1], t = numbers[2], rate = numbers[3] }
    end,

    encode = function(state)
      return string.format('%.0f:%.0f:%.0f', state.used, state.t, state.rate)
    end,

    step = function(state, rule, cost, now)
      local L, W, burst, maxDelayMs = rule.limit, rule.windowMs, rule.burst, rule.maxDelayMs
      local used, at, ahead, rate, moved = drain(state, rule, now)
      local never = cost > burst or (L == 0 and cost > 0)
      local retryMs = never and -1 or waitMs(rule, used, rate, cost)
      local allowed = retryMs == 0
      local after = allowed and used + cost * W or used
      local queueing = maxDelayMs and after > maxDelayMs * L
      local remaining = (L == 0 or queueing) and 0 or math.max(0, math.floor((burst * W - after) / W))
      local nextMs = L > 0 and remaining < burst and ahead + waitMs(rule, after, rate, remaining + 1) or 0
      local resetMs = after > 0 and ahead + math.ceil(after / rate) or 0
      local status = allowed and ALLOWED or never and NEVER or EXHAUSTED
      local retryAfterMs = allowed and 0 or never and -1 or ahead + retryMs
      local delayMs = allowed and maxDelayMs and L > 0 and used > 0 and ahead + math.ceil(used / L) or 0
      local stored = ((allowed and cost > 0) or moved) and { used = after, t = at, rate = rate } or nil
      return status, remaining, nextMs, resetMs, retryAfterMs, delayMs, at, stored
    end,

    refund = function(state, rule, units, at, now)
      local W, burst = rule.windowMs, rule.burst
      local used, later = drain(state, rule, now)
      if used == 0 or (later - at) * state.rate >= burst * W then return nil end
      return { used = used - math.min(units * W, used), t = later, rate = state.rate }
    end,

    debit = function(state, rule, units, now)
      local used, at, _, rate = drain(state, rule, now)
      return { used = math.min(used + units * rule.windowMs, MAX_USED), t = at, rate = rate }
    end,

    lifeMs = function(state, _, now)
      return state.t - now + math.ceil(state.used / state.rate)
    end,
  }
end
