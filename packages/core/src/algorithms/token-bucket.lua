-- Token bucket: the meter of bucket.lua, `burst` is its size. Twin of token-bucket.ts.

local tokenBucket = bucket
