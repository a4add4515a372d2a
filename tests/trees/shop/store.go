// Package store keeps the articles of a shop and answers requests about them.
package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"sync"
)

// ErrMissing is returned for an article that nobody has put in.
var ErrMissing = errors.New("store: no such article")

const (
	Cheap Class = iota
	Usual
	Dear
)

// Class says how dear an article is.
type Class int

// Article is what can be sold.
type Article struct {
	Name  string  `json:"name"`
	Price float64 `json:"price"`
	Tags  []string
}

// Counter counts articles of a kind.
type Counter interface {
	Count(name string) int
	Reset() error
}

// Number may be added up.
type Number interface{ ~int | ~float64 }

// Store is safe for use by several goroutines.
type Store struct {
	mu       sync.RWMutex
	articles map[string]*Article
	changed  chan string
	notify   func(string) error
}

// New makes an empty store.
func New(notify func(string) error) *Store {
	return &Store{articles: make(map[string]*Article), changed: make(chan string, 8), notify: notify}
}

// Class compares the price with two bounds.
func (a *Article) Class() Class {
	switch {
	case a.Price < 10:
		return Cheap
	case a.Price < 100:
		return Usual
	default:
		return Dear
	}
}

func (c Class) String() string { return [...]string{"cheap", "usual", "dear"}[c] }

// Put adds an article, or takes the place of one of the same name.
func (s *Store) Put(article Article) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if article.Name == "" || article.Price < 0 {
		return fmt.Errorf("store: %q cannot be sold for %.2f", article.Name, article.Price)
	}
	s.articles[article.Name] = &article
	go func(name string) {
		if s.notify != nil {
			_ = s.notify(name)
		}
		s.changed <- name
	}(article.Name)
	return nil
}

// Get finds an article.
func (s *Store) Get(name string) (*Article, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if article, ok := s.articles[name]; ok {
		return article, nil
	}
	return nil, ErrMissing
}

// Sum adds up what a function makes of each element.
func Sum[T any, N Number](all []T, of func(T) N) (total N) {
	for _, each := range all {
		total += of(each)
	}
	return total
}

// Sorted lists all articles by price.
func (s *Store) Sorted() []*Article {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := make([]*Article, 0, len(s.articles))
	for _, article := range s.articles {
		found = append(found, article)
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Price < found[j].Price })
	return found
}

// Wait says which article changed next, unless it is told to stop.
func (s *Store) Wait(stop <-chan struct{}) (string, bool) {
	select {
	case name := <-s.changed:
		return name, true
	case <-stop:
		return "", false
	}
}

type handler struct{ *Store }

// ServeHTTP answers requests for one article.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	article, err := h.Get(r.URL.Query().Get("name"))
	if errors.Is(err, ErrMissing) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if err := json.NewEncoder(w).Encode(article); err != nil {
		panic(err)
	}
}

// Routes registers the handlers of a store.
func Routes(mux *http.ServeMux, s *Store) {
	mux.Handle("/article", handler{s})
	mux.HandleFunc("/total", func(w http.ResponseWriter, r *http.Request) {
		total := Sum(s.Sorted(), func(a *Article) float64 { return a.Price })
		fmt.Fprintf(w, "%.2f", total)
	})
}
