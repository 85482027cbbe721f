// Reads all files of a table with parquet-go: `read_tables < files.json > answer.json`, as read_tables.py does.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"math/big"
	"os"

	"github.com/parquet-go/parquet-go"
)

type column struct {
	rows, known int64
	total       *big.Int
}

func main() {
	var tables map[string][]string
	check(json.NewDecoder(os.Stdin).Decode(&tables))
	answers := map[string]map[string][]any{}
	for table, paths := range tables {
		found := map[string]*column{}
		for _, path := range paths {
			add(found, path)
		}
		answers[table] = map[string][]any{}
		for name, each := range found {
			answers[table][name] = []any{each.rows, each.known, each.total}
		}
	}
	check(json.NewEncoder(os.Stdout).Encode(answers))
}

// add reads the columns of a file, value by value.
func add(found map[string]*column, path string) {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	about, err := file.Stat()
	check(err)
	opened, err := parquet.OpenFile(file, about.Size())
	check(err)
	for place, name := range opened.Schema().Columns() {
		into, is := found[name[0]]
		if !is {
			into = &column{}
			found[name[0]] = into
		}
		kind := opened.Root().Columns()[place].Type().Kind()
		if into.total == nil && (kind == parquet.Int32 || kind == parquet.Int64) {
			into.total = new(big.Int)
		}
		for _, group := range opened.RowGroups() {
			read(into, group.ColumnChunks()[place])
		}
	}
}

func read(into *column, chunk parquet.ColumnChunk) {
	pages := chunk.Pages()
	defer pages.Close()
	values := make([]parquet.Value, 4096)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		reader := page.Values()
		for {
			n, err := reader.ReadValues(values)
			for _, value := range values[:n] {
				into.take(value)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			check(err)
		}
	}
}

func (into *column) take(value parquet.Value) {
	into.rows++
	if value.IsNull() {
		return
	}
	into.known++
	switch value.Kind() {
	case parquet.Int32:
		into.total.Add(into.total, big.NewInt(int64(value.Int32())))
	case parquet.Int64:
		into.total.Add(into.total, big.NewInt(value.Int64()))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
