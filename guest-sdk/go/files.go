package hookbox

// Files are those below granted directories. Paths start at the project.
var Files FileTree

// FileTree holds files; [Files] is the one there is.
type FileTree struct{}

// Read returns what a file holds.
func (FileTree) Read(path string) ([]byte, error) {
	return hostFileRead(path)
}

// List returns the names in a directory, sorted; those of directories end in /.
func (FileTree) List(path string) ([]string, error) {
	return hostFileList(path)
}
