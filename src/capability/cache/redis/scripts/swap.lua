local stored = redis.call('HGET', values, key)
if (stored or '') ~= ARGV[3] then return {'other', stored} end
return put(ARGV[2], ARGV[4], ARGV[5], ARGV[6])
