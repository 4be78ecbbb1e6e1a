package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// historyNames: the history spells success with two s.
var historyNames = map[string]string{"Succesful": "Successful"}

// Record is a payment in the history.
type Record struct {
	Refid, Account string
	Product        string `json:"product_code"`
	Status         string `json:"status_name"`
	Amount, Price  Sen
}

// Entry is a line of the wallet's statement.
type Entry struct {
	ID     int64
	Type   string
	Amount Sen
}

// Result is what was read, and what differs, a sentence each.
type Result struct {
	payments, entries int
	differences       []string
}

func (r *Result) differs(format string, values ...any) {
	r.differences = append(r.differences, fmt.Sprintf(format, values...))
}

// reconcile compares our records of a day, yyyy-MM-dd in GMT+8, or of several, "yyyy-MM-dd - yyyy-MM-dd", with the
// service's, which it reads in pages of this length.
func reconcile(client *Client, orders []*Order, deposits []Sen, days string, page int) (*Result, error) {
	history, err := readHistory(client, days, page)
	if err != nil {
		return nil, err
	}
	statement, err := readStatement(client, days, page)
	if err != nil {
		return nil, err
	}
	result := &Result{payments: len(history), entries: len(statement)}
	ours := map[string]bool{}
	for _, order := range orders {
		if order.status != "refused" {
			ours[order.refid] = true
			compare(result, order, history)
		}
	}
	var prices, spent Sen
	for refid, record := range history {
		prices += record.Price
		if !ours[refid] {
			result.differs("%s is in the history, and not in our records", refid)
		}
	}
	deposited := map[Sen]int{} // in the statement more often than in our records; each deposit counts once
	for _, entry := range statement {
		switch entry.Type {
		case "TRANSACTION", "REFUND":
			spent -= entry.Amount
		case "DEPOSIT":
			deposited[entry.Amount]++
		}
	}
	if spent != prices {
		result.differs("the statement's payments come to %s, those of the history to %s", spent, prices)
	}
	for _, amount := range deposits {
		if deposited[amount]--; deposited[amount] < 0 {
			result.differs("a deposit of %s is not in the statement", amount)
		}
	}
	for amount, count := range deposited {
		for ; count > 0; count-- {
			result.differs("a deposit of %s is in the statement, and not in our records", amount)
		}
	}
	return result, nil
}

// compare notes what differs between an order and its record.
func compare(result *Result, order *Order, history map[string]Record) {
	record, isThere := history[order.refid]
	if !isThere {
		result.differs("%s is %s in our records, and not in the history", order.refid, order.status)
		return
	}
	status, isNamed := historyNames[order.status]
	if !isNamed {
		status = order.status
	}
	for _, pair := range []struct {
		name string
		a, b any
	}{
		{"status", status, record.Status},
		{"product", order.product, record.Product},
		{"account", order.account, record.Account},
		{"amount", order.amount, record.Amount},
		{"cost", order.cost, record.Price},
	} {
		if pair.a != pair.b {
			result.differs("%s: %s is %v, in the history %v", order.refid, pair.name, pair.a, pair.b)
		}
	}
}

// readHistory reads all payments by refid: offset moves on until a page is not full.
func readHistory(client *Client, days string, page int) (map[string]Record, error) {
	records := map[string]Record{}
	for offset := 0; ; offset += page {
		var answer struct{ Data []Record }
		query := url.Values{"date": {days}, "limit": {strconv.Itoa(page)}, "offset": {strconv.Itoa(offset)}}
		if err := client.read(&answer, http.MethodGet, "/v2/transactions", query, nil); err != nil {
			return nil, err
		}
		for _, one := range answer.Data {
			records[one.Refid] = one
		}
		if len(answer.Data) < page {
			return records, nil
		}
	}
}

// readStatement reads all entries: page moves on until the last. By id, since a new entry moves those before it to the
// next page.
func readStatement(client *Client, days string, limit int) (map[int64]Entry, error) {
	entries := map[int64]Entry{}
	for page := 1; ; page++ {
		var answer struct {
			Data []Entry
			Meta struct {
				LastPage int `json:"last_page"`
			}
		}
		query := url.Values{"date": {days}, "limit": {strconv.Itoa(limit)}, "page": {strconv.Itoa(page)}}
		if err := client.read(&answer, http.MethodGet, "/v2/balance-statement", query, nil); err != nil {
			return nil, err
		}
		for _, one := range answer.Data {
			entries[one.ID] = one
		}
		if page >= answer.Meta.LastPage {
			return entries, nil
		}
	}
}
