local values, expiry, total = KEYS[1], KEYS[2], KEYS[3]
local key = ARGV[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- The total is counted anew if the server lost it, so that losing it is no
-- way around a quota.
local function used()
  local known = redis.call('GET', total)
  if known then return tonumber(known) end
  local sum = 0
  for _, name in ipairs(redis.call('HKEYS', values)) do
    sum = sum + #name + redis.call('HSTRLEN', values, name)
  end
  if sum > 0 then redis.call('SET', total, string.format('%.0f', sum)) end
  return sum
end

local function remove(name)
  local length = redis.call('HSTRLEN', values, name)
  redis.call('ZREM', expiry, name)
  if length == 0 then return false end
  used()
  redis.call('HDEL', values, name)
  if redis.call('EXISTS', values) == 0 then
    redis.call('DEL', total)
  else
    redis.call('DECRBY', total, string.format('%.0f', #name + length))
  end
  return true
end

local function purge(most)
  local due = redis.call('ZRANGEBYSCORE', expiry, '-inf', string.format('%.0f', now), 'LIMIT', 0, most)
  for _, name in ipairs(due) do remove(name) end
  return #due
end

-- A ttl of '' is for ever, and one of 'keep' leaves the expiry as it is.
local function put(text, ttl, max_bytes, max_keys)
  local old = redis.call('HSTRLEN', values, key)
  local growth = #text - old
  if old == 0 then growth = growth + #key end
  local function lacks()
    if growth > 0 and used() + growth > tonumber(max_bytes) then return 'bytes' end
    if old == 0 and redis.call('HLEN', values) + 1 > tonumber(max_keys) then return 'keys' end
  end
  local lack = lacks()
  while lack and purge(1000) > 0 do lack = lacks() end
  if lack then return {lack, false} end
  used()
  redis.call('HSET', values, key, text)
  redis.call('INCRBY', total, string.format('%.0f', growth))
  if ttl == '' then
    redis.call('ZREM', expiry, key)
  elseif ttl ~= 'keep' then
    redis.call('ZADD', expiry, string.format('%.0f', now + ttl), key)
  end
  return {'done', text}
end

purge(16)
local expires = redis.call('ZSCORE', expiry, key)
if expires and tonumber(expires) <= now then remove(key) end
