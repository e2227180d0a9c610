-- Sliding window of two counters. Twin of sliding-window.ts: the same names, the same order of lines.
--
-- State    { w, prev, cur }: number of the current window, units charged in the one before it and in it
-- Encoding one decimal number: w, then prev and cur with d digits each, then the digit d (0 stands for 16).
--          Nearly always below 2^63, where Redis keeps it as a packed integer; beyond that it is a plain string.

local function slidingWindow()
  -- The state as it is at now: w, prev, cur, e, ahead, moved.
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

  -- How long until cost passes if nothing more comes: 0 when it passes now, -1 when it never can.
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
