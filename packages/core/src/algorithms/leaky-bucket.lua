-- Leaky bucket: the meter of bucket.lua, `burst` is its queue, `maxDelayMs` shapes. Twin of leaky-bucket.ts.

local leakyBucket = bucket
