-- Sliding window of two counters. Twin of sliding-window.ts: the same names, the same order of lines.
--
-- State    { w, prev, cur }: number of the current window, units charged in the one before it and in it
-- Encoding one decimal number: w, then prev and cur with d digits each, then the digit d (0 stands for 16).
--          Nearly always below 2^63, where Redis keeps it as a packed integer; beyond that it is a plain string.

-- How long until cost passes if nothing more comes: 0 when it passes now, -1 when it never can.
local function slidingWindowWaitMs(rule, prev, cur, e, cost)
  local L, W = rule.limit, rule.windowMs
  if cost > L then return -1 end
  if prev * (W - e) + (cur + cost) * W <= L * W then return 0 end
  if cur + cost <= L then return W - math.floor((L - cur - cost) * W / prev) - e end
  return W - e + W - math.floor((L - cost) * W / cur)
end

local slidingWindow = {
  -- Anything that was not written by encode reads as nothing.
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

  -- Returns status, remaining, nextMs, resetMs, retryAfterMs, the state to store or nil, expiresMs
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
