// Prints the errors of types in the Go files below a directory, `path:line` each. What is imported
// from outside is not known, and nothing that depends on it is an error.
package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

type local struct {
	module, root string
	files        *token.FileSet
	known        map[string]*types.Package
	std          types.Importer
}

func (l *local) Import(path string) (*types.Package, error) {
	if path != l.module && !strings.HasPrefix(path, l.module+"/") {
		if strings.Contains(strings.Split(path, "/")[0], ".") {
			return nil, fmt.Errorf("outside")
		}
		return l.std.Import(path)
	}
	if found, ok := l.known[path]; ok {
		return found, nil
	}
	directory := filepath.Join(l.root, strings.TrimPrefix(path, l.module))
	found := l.check(path, l.parse(directory, false), func(error) {})
	l.known[path] = found
	return found, nil
}

func (l *local) parse(directory string, tests bool) map[string][]*ast.File {
	found := map[string][]*ast.File{}
	entries, _ := os.ReadDir(directory)
	for _, one := range entries {
		isTest := strings.HasSuffix(one.Name(), "_test.go")
		if !strings.HasSuffix(one.Name(), ".go") || isTest && !tests {
			continue
		}
		file, err := parser.ParseFile(l.files, filepath.Join(directory, one.Name()), nil, parser.SkipObjectResolution)
		if err == nil {
			found[file.Name.Name] = append(found[file.Name.Name], file)
		}
	}
	return found
}

func (l *local) check(path string, packages map[string][]*ast.File, tell func(error)) *types.Package {
	var first *types.Package
	for name, files := range packages {
		config := types.Config{Importer: l, Error: tell, FakeImportC: true}
		found, _ := config.Check(path, l.files, files, nil)
		if first == nil || !strings.HasSuffix(name, "_test") && name != "main" {
			first = found
		}
	}
	return first
}

func main() {
	root := os.Args[1]
	said, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	fields := strings.Fields(string(said))
	module := "main"
	if len(fields) > 1 {
		module = fields[1]
	} else if len(os.Args) > 2 {
		module = os.Args[2]
	}
	files := token.NewFileSet()
	l := &local{module, root, files, map[string]*types.Package{}, importer.ForCompiler(files, "source", nil)}
	tell := func(err error) {
		if one, ok := err.(types.Error); ok && !strings.Contains(one.Msg, "could not import") {
			place := files.Position(one.Pos)
			path, _ := filepath.Rel(root, place.Filename)
			fmt.Printf("%s:%d\n", path, place.Line)
		}
	}
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, _ error) error {
		if entry == nil || !entry.IsDir() {
			return nil
		}
		if name := entry.Name(); path != root && (name[0] == '.' || name == "_examples" || name == "vendor" || name == "testdata") {
			return filepath.SkipDir
		}
		relative, _ := filepath.Rel(root, path)
		name := strings.TrimSuffix(module+"/"+filepath.ToSlash(relative), "/.")
		l.check(name, l.parse(path, true), tell)
		return nil
	})
}
