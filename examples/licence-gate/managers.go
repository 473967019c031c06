package main

// manager is a program that installs packages.
type manager struct {
	// registry is what the list of licences calls its registry.
	registry string
	// verbs are the words after which names of packages follow.
	verbs []string
	// values are the options that are followed by a word which is no name.
	values []string
	// elsewhere are the options that make it take packages from another place.
	elsewhere []string
	// versions are the letters that can end a name.
	versions string
}

var npm = manager{
	registry:  "npm",
	verbs:     []string{"install", "i", "add"},
	values:    []string{"--prefix", "-w", "--workspace", "--tag"},
	elsewhere: []string{"--registry"},
	versions:  "@",
}

var pip = manager{
	registry:  "pypi",
	verbs:     []string{"install", "add"},
	values:    []string{"-c", "--constraint", "-t", "--target", "--python", "--prefix"},
	elsewhere: []string{"-i", "--index-url", "--extra-index-url", "--index", "-f", "--find-links"},
	versions:  "=<>!~[; @",
}

var managers = map[string]manager{
	"npm": npm, "pnpm": npm, "yarn": npm, "bun": npm,
	"pip": pip, "pip3": pip, "uv": pip,
	"cargo": {
		registry:  "crates",
		verbs:     []string{"add", "install"},
		values:    []string{"-F", "--features", "-p", "--package", "--vers", "--version", "--rename"},
		elsewhere: []string{"--git", "--path", "--registry", "--index"},
		versions:  "@",
	},
	"go": {
		registry: "go",
		verbs:    []string{"get", "install"},
		values:   []string{"-C", "-tags", "-ldflags", "-gcflags"},
		versions: "@",
	},
	"gem": {
		registry:  "gems",
		verbs:     []string{"install"},
		values:    []string{"-v", "--version", "-i", "--install-dir"},
		elsewhere: []string{"-s", "--source"},
		versions:  ":",
	},
}
