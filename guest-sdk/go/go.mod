module hookbox.dev/guest

go 1.24
