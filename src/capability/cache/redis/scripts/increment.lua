-- The server adds, as a number of this language has only 53 bits. Then the old
-- text is put back, so that the sum is stored like any other text.
local old = redis.call('HGET', values, key)
if old == '-0' then redis.call('HSET', values, key, '0') end
local sum = redis.pcall('HINCRBY', values, key, ARGV[2])
if type(sum) == 'table' and sum.err then
  if string.find(sum.err, 'not an integer', 1, true) or string.find(sum.err, 'overflow', 1, true) then
    return {'integer', false}
  end
  return sum
end
local text = redis.call('HGET', values, key)
if old then
  redis.call('HSET', values, key, old)
  return put(text, 'keep', ARGV[4], ARGV[5])
end
redis.call('HDEL', values, key)
return put(text, ARGV[3], ARGV[4], ARGV[5])
