-- Fixed window. Twin of fixed-window.ts: the same names, the same order of lines.
--
-- State    { w, n }: number of the current window, units charged in it
-- Encoding one decimal number: w, then n with d digits, then the digit d (0 stands for 16).

local function fixedWindow()
  -- The state as it is at now: w, n, e, ahead, moved.
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
