package main

import (
	"path"
	"slices"
	"strings"
)

// wanted is a package that a command would install.
type wanted struct {
	// id is what the list knows it under: its registry and its name.
	id string
	// doubt says why the list cannot be asked about it.
	doubt string
}

var (
	shells = []string{"sh", "bash", "zsh", "dash", "eval"}
	// wrappers run the command that follows somewhere among their words.
	wrappers = []string{"sudo", "doas", "env", "exec", "command", "time", "timeout", "nice", "nohup", "xargs", "then", "do", "else", "!"}
)

// packages returns what a command line would install.
func packages(line string) []wanted {
	var all []wanted
	for _, words := range commands(line) {
		all = append(all, inCommand(words)...)
	}
	return all
}

// inCommand returns what one command would install.
func inCommand(words []string) []wanted {
	before, words := split(words)
	if len(words) == 0 {
		return nil
	}
	if slices.Contains(before, "xargs") {
		// It adds words of its own.
		words = append(words, unknown)
	}
	program := path.Base(words[0])
	if slices.Contains(shells, program) {
		// What a shell is given to run is one of its words.
		return packages(strings.Join(words[1:], "\n"))
	}
	if strings.HasPrefix(program, "python") && len(words) > 2 && words[1] == "-m" {
		words = words[2:]
		program = words[0]
	}
	manager, known := managers[program]
	if !known {
		return nil
	}
	return manager.installs(words[1:], slices.ContainsFunc(before, changesPlace))
}

// split returns what stands before the program that matters, and the rest.
func split(words []string) (before, rest []string) {
	isWrapped := false
	for index, word := range words {
		program := path.Base(word)
		_, isManager := managers[program]
		isOne := isManager || slices.Contains(shells, program) || strings.HasPrefix(program, "python")
		switch {
		case strings.Contains(word, "="):
		case slices.Contains(wrappers, word):
			isWrapped = true
		case isOne:
			return words[:index], words[index:]
		case !isWrapped:
			return words, nil
		}
	}
	return words, nil
}

// changesPlace says whether a word sets a variable that can make a manager take
// packages from another place, like GOPROXY, PIP_INDEX_URL or npm_config_registry.
func changesPlace(word string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(word), "=")
	return strings.Contains(name, "PROXY") || strings.Contains(name, "INDEX") || strings.Contains(name, "REGISTRY")
}

// installs returns the packages among the words after a program.
func (m manager) installs(words []string, isElsewhere bool) []wanted {
	verb := slices.IndexFunc(words, func(word string) bool { return slices.Contains(m.verbs, word) })
	if verb < 0 {
		return nil
	}
	var all []wanted
	for index := 0; index < len(words); index++ {
		option, _, hasValue := strings.Cut(words[index], "=")
		switch {
		case slices.Contains(m.elsewhere, option):
			isElsewhere = true
		case slices.Contains(m.values, option) && !hasValue:
			index++
		case index > verb && !strings.HasPrefix(words[index], "-") && !m.isLocal(words[index]):
			all = append(all, m.read(words[index]))
		}
	}
	if isElsewhere && len(all) > 0 {
		return []wanted{{doubt: "the packages do not come from the registry " + m.registry}}
	}
	return all
}

// isLocal says whether a word is about what is here already: go install ./cmd/x
// builds, and fetches nothing that is not required yet.
func (m manager) isLocal(word string) bool {
	return m.registry == "go" && (strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/"))
}

// read returns the package that a word like name@1.2 or name==1.2 stands for.
func (m manager) read(word string) wanted {
	name, version := word, ""
	// The first letter never ends a name: those of npm can begin with @.
	if end := strings.IndexAny(word[min(1, len(word)):], m.versions); end >= 0 {
		name, version = word[:end+1], word[end+2:]
	}
	if m.registry == "pypi" {
		name = normal(name)
	}
	// A version can also be an address, or the name of another package.
	if !m.isName(name) || strings.ContainsAny(version, ":/@") {
		return wanted{doubt: word + " is no package of the registry " + m.registry}
	}
	return wanted{id: m.registry + "/" + name}
}

// isName says whether a text can be a name in the registry, and not a file, an
// address or unknown. It becomes a part of a URL, so nothing else will do.
func (m manager) isName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"
	parts := strings.Split(name, "/")
	scope, isScoped := strings.CutPrefix(parts[0], "@")
	switch {
	case m.registry == "npm" && isScoped && len(parts) == 2:
		parts[0] = scope
	case m.registry == "go" && strings.Contains(parts[0], ".") && len(parts) > 1:
	case len(parts) > 1 || isFile(name):
		return false
	}
	return !slices.ContainsFunc(parts, func(part string) bool {
		return strings.Trim(part, ".") == "" || strings.Trim(part, letters) != ""
	})
}

func isFile(name string) bool {
	endings := []string{".tgz", ".gz", ".whl", ".zip", ".gem", ".crate", ".txt"}
	return slices.Contains(endings, path.Ext(name))
}

// normal spells a name of Python's as its registry does, and leaves files alone.
func normal(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if strings.HasPrefix(name, ".") || strings.Contains(name, "/") || isFile(name) {
		return name
	}
	parts := strings.FieldsFunc(name, func(letter rune) bool { return strings.ContainsRune("-_.", letter) })
	return strings.Join(parts, "-")
}
