//go:build database

// This file serves the tests of the tables World and Fortune, through a pgx pool with default settings.

package main

import (
	"cmp"
	"context"
	"html/template"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	worldRows  = 10000
	rowsMax    = 500
	selectRow  = "SELECT id, randomnumber FROM world WHERE id = $1"
	updateRow  = "UPDATE world SET randomnumber = $2 WHERE id = $1"
	selectAll  = "SELECT id, randomnumber FROM world"
	selectText = "SELECT id, message FROM fortune"
)

type world struct {
	ID           int32 `json:"id"`
	RandomNumber int32 `json:"randomNumber"`
}

type fortune struct {
	ID      int32
	Message string
}

var page = template.Must(template.New("fortunes").Parse(`<!doctype html><html><head><title>Fortunes</title></head><body><table>` +
	`<tr><th>id</th><th>message</th></tr>{{range .}}<tr><td>{{.ID}}</td><td>{{.Message}}</td></tr>{{end}}</table></body></html>`))

type tables struct {
	pool  *pgxpool.Pool
	cache map[int32]world
}

func addTables(mux *http.ServeMux) {
	tables, err := openTables(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	mux.HandleFunc("GET /db", tables.db)
	mux.HandleFunc("GET /queries", tables.queries)
	mux.HandleFunc("GET /updates", tables.updates)
	mux.HandleFunc("GET /fortunes", tables.fortunes)
	mux.HandleFunc("GET /cached-queries", tables.cachedQueries)
}

func openTables(url string) (*tables, error) {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	rows, _ := pool.Query(ctx, selectAll)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[world])
	if err != nil {
		return nil, err
	}
	cache := make(map[int32]world, len(all))
	for _, row := range all {
		cache[row.ID] = row
	}
	return &tables{pool, cache}, nil
}

func randomRow() int32 {
	return rand.Int32N(worldRows) + 1
}

func rowCount(r *http.Request, name string) int {
	count, _ := strconv.Atoi(r.URL.Query().Get(name))
	return min(max(count, 1), rowsMax)
}

func (t *tables) db(w http.ResponseWriter, r *http.Request) {
	var row world
	if err := t.pool.QueryRow(r.Context(), selectRow, randomRow()).Scan(&row.ID, &row.RandomNumber); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	respondJSON(w, row)
}

func (t *tables) queries(w http.ResponseWriter, r *http.Request) {
	rows, err := t.read(r.Context(), rowCount(r, "queries"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	respondJSON(w, rows)
}

// read returns random rows. It sends one query per row, all of them in one batch.
func (t *tables) read(ctx context.Context, count int) ([]world, error) {
	batch := &pgx.Batch{}
	rows := make([]world, count)
	for i := range rows {
		batch.Queue(selectRow, randomRow()).QueryRow(func(found pgx.Row) error {
			return found.Scan(&rows[i].ID, &rows[i].RandomNumber)
		})
	}
	return rows, t.pool.SendBatch(ctx, batch).Close()
}

// updates writes rows in the order of their ids, so that concurrent requests can't deadlock.
func (t *tables) updates(w http.ResponseWriter, r *http.Request) {
	rows, err := t.read(r.Context(), rowCount(r, "queries"))
	if err == nil {
		slices.SortFunc(rows, func(a, b world) int { return cmp.Compare(a.ID, b.ID) })
		batch := &pgx.Batch{}
		for i := range rows {
			rows[i].RandomNumber = randomRow()
			batch.Queue(updateRow, rows[i].ID, rows[i].RandomNumber)
		}
		err = t.pool.SendBatch(r.Context(), batch).Close()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	respondJSON(w, rows)
}

func (t *tables) cachedQueries(w http.ResponseWriter, r *http.Request) {
	rows := make([]world, rowCount(r, "count"))
	for i := range rows {
		rows[i] = t.cache[randomRow()]
	}
	respondJSON(w, rows)
}

func (t *tables) fortunes(w http.ResponseWriter, r *http.Request) {
	found, _ := t.pool.Query(r.Context(), selectText)
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[fortune])
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	all = append(all, fortune{0, "Additional fortune added at request time."})
	slices.SortFunc(all, func(a, b fortune) int { return cmp.Compare(a.Message, b.Message) })
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Server", "net/http")
	page.Execute(w, all)
}
