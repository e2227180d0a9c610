-- The status that a step returns; twin of DenialReason in algorithm.ts.
local ALLOWED, EXHAUSTED, NEVER = 0, 1, 2
