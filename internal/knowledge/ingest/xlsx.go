package ingest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxSheet bounds what one part of a workbook may unpack to, in bytes.
const maxSheet = 64 << 20

// readXLSX returns the rows of the first worksheet, cells by column. It reads
// the values and shared strings and nothing else; encoding/xml expands no
// entities of the document's own.
func readXLSX(data []byte) ([][]string, error) {
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("not an XLSX workbook: %w", err)
	}
	shared, err := xlsxShared(zr)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	err = xlsxPart(zr, "xl/worksheets/sheet1.xml", func(d *xml.Decoder) error {
		var row struct {
			Cells []struct {
				Ref    string `xml:"r,attr"`
				Type   string `xml:"t,attr"`
				Value  string `xml:"v"`
				Inline string `xml:"is>t"`
			} `xml:"c"`
		}
		return eachElement(d, "row", &row, func() error {
			var cells []string
			for i, cell := range row.Cells {
				col := xlsxColumn(cell.Ref, i)
				if col > 1000 {
					return fmt.Errorf("cell %s: more than 1000 columns", cell.Ref)
				}
				for len(cells) <= col {
					cells = append(cells, "")
				}
				v, err := xlsxValue(cell.Type, cell.Value, cell.Inline, shared)
				if err != nil {
					return fmt.Errorf("cell %s: %w", cell.Ref, err)
				}
				cells[col] = v
			}
			rows = append(rows, cells)
			row.Cells = nil
			return nil
		})
	})
	return rows, err
}

func xlsxValue(kind, value, inline string, shared []string) (string, error) {
	switch kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil || i < 0 || i >= len(shared) {
			return "", fmt.Errorf("shared string %q of %d", value, len(shared))
		}
		return shared[i], nil
	case "inlineStr":
		return inline, nil
	}
	return value, nil
}

func xlsxShared(zr *zip.Reader) ([]string, error) {
	var out []string
	err := xlsxPart(zr, "xl/sharedStrings.xml", func(d *xml.Decoder) error {
		var si struct {
			Text string `xml:"t"`
			Runs []struct {
				Text string `xml:"t"`
			} `xml:"r"`
		}
		return eachElement(d, "si", &si, func() error {
			s := si.Text
			for _, r := range si.Runs {
				s += r.Text
			}
			out = append(out, s)
			si.Text, si.Runs = "", nil
			return nil
		})
	})
	return out, err
}

func xlsxPart(zr *zip.Reader, name string, f func(*xml.Decoder) error) error {
	r, err := zr.Open(name)
	if err != nil {
		return fmt.Errorf("workbook: %w", err)
	}
	defer func() { _ = r.Close() }() // only read
	limited := &io.LimitedReader{R: r, N: maxSheet}
	err = f(xml.NewDecoder(limited))
	if limited.N <= 0 {
		return fmt.Errorf("%s: unpacks to more than %d bytes", name, maxSheet)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// eachElement decodes every element of that name into v and calls f.
func eachElement(d *xml.Decoder, name string, v any, f func() error) error {
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if se, ok := tok.(xml.StartElement); ok && se.Name.Local == name {
			if err := d.DecodeElement(v, &se); err != nil {
				return err
			}
			if err := f(); err != nil {
				return err
			}
		}
	}
}

// xlsxColumn is the column of a reference such as "AB7", from 0; i if there is
// no reference.
func xlsxColumn(ref string, i int) int {
	letters := strings.TrimRight(ref, "0123456789")
	if letters == "" || len(letters) > 3 {
		return i
	}
	col := 0
	for _, r := range letters {
		col = col*26 + int(r-'A') + 1
	}
	return max(col-1, 0)
}
