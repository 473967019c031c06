module licence-gate

go 1.24

require hookbox.dev/guest v0.0.0

replace hookbox.dev/guest => ../../guest-sdk/go
