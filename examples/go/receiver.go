package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
)

const largest = 64 * 1024

// Event is a webhook.
type Event struct {
	ID   string
	Type string
	Data struct{ Amount Sen }
}

// Receiver checks callbacks of payments and webhooks, hands over to the shop, and answers at once.
type Receiver struct {
	shop   *Shop
	mutex  sync.Mutex
	secret []byte          // from PUT /v2/balance-webhook
	seen   map[string]bool // ids of events: yours are in a table
}

// listen serves on the loopback address and returns its URL. Let the proxy in front of yours admit the service's
// addresses only.
func (r *Receiver) listen() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/callbacks", r.callback)
	routes.HandleFunc("/webhooks", r.webhook)
	go http.Serve(listener, routes)
	return "http://" + listener.Addr().String(), nil
}

// setSecret is what webhooks are verified with from now on.
func (r *Receiver) setSecret(secret []byte) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.secret = secret
}

// callback takes a payment by POST as {"data": payment}, by GET as the parameter message.
func (r *Receiver) callback(answer http.ResponseWriter, request *http.Request) {
	var told struct{ Data Payment }
	var err error
	if request.Method == http.MethodGet {
		err = json.Unmarshal([]byte(request.URL.Query().Get("message")), &told.Data)
	} else {
		err = json.NewDecoder(http.MaxBytesReader(answer, request.Body, largest)).Decode(&told)
	}
	payment := told.Data
	order := r.shop.order(payment.Refid)
	// What we do not know, or ordered otherwise, the service did not send.
	switch {
	case err != nil:
		answer.WriteHeader(http.StatusBadRequest)
	case order == nil:
		answer.WriteHeader(http.StatusNotFound)
	case payment.Product != order.product || payment.Account != order.account || payment.Amount != order.amount:
		answer.WriteHeader(http.StatusBadRequest)
	default:
		select {
		case r.shop.heard <- heard{payment.Refid, payment.Status}:
		default: // the shop is busy, and asks anyway
		}
	}
}

// webhook takes an event once, however often it comes.
func (r *Receiver) webhook(answer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(answer, request.Body, largest))
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil || r.secret == nil || !isGenuine(r.secret, request.Header, body) {
		answer.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event Event
	if json.Unmarshal(body, &event) != nil {
		answer.WriteHeader(http.StatusBadRequest)
		return
	}
	if !r.seen[event.ID] {
		r.seen[event.ID] = true
		r.shop.events <- event
	}
	answer.WriteHeader(http.StatusNoContent)
}
