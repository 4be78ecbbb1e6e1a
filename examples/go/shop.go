package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	pollEvery   = 5 * time.Second
	longestWait = time.Minute
)

// isFinal tells whether a status stays. The service spells success with one s; "Refund" is what a voided payment becomes.
func isFinal(status string) bool {
	return status == "Succesful" || status == "Failed" || status == "Refund"
}

// Order is what a customer buys. The refid is drawn once and names the payment for ever.
type Order struct {
	refid, product, account string
	amount                  Sen
	extras                  map[string]string

	status, remarks string
	cost            Sen
	asked, failures int
	isOpen          bool
	askAt, politeAt time.Time // when to ask; not to be asked about before
}

// request is the body of every POST /v2/topup for this order: the same one, or it would be another order.
func (o *Order) request() map[string]any {
	body := map[string]any{"refid": o.refid, "product": o.product, "account": o.account, "amount": o.amount.String()}
	if o.extras != nil {
		body["extras"] = o.extras
	}
	return body
}

// Payment is what the service says of an order, in answers and callbacks.
type Payment struct {
	Refid, Product, Account, Status, Remarks string
	Amount, Cost                             Sen
}

// heard is what a callback told.
type heard struct{ refid, status string }

// Shop has the orders, in memory here: yours are rows of a table, written before anything is sent. One goroutine asks;
// the receiver only looks orders up and tells what it heard. speed is for clocks that run faster.
type Shop struct {
	client *Client
	speed  time.Duration
	mutex  sync.RWMutex // of orders: what the receiver reads of one never changes
	orders map[string]*Order
	placed []*Order
	heard  chan heard
	events chan Event // verified webhooks, each once
}

func newShop(client *Client, speed time.Duration) *Shop {
	return &Shop{client: client, speed: speed, orders: map[string]*Order{}, heard: make(chan heard, 1000),
		events: make(chan Event, 1000)}
}

// order finds one.
func (s *Shop) order(refid string) *Order {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return s.orders[refid]
}

// place stores an order and pays it.
func (s *Shop) place(order *Order) error {
	s.mutex.Lock()
	s.orders[order.refid] = order
	s.placed = append(s.placed, order)
	s.mutex.Unlock()
	order.isOpen = true
	return s.ask(order)
}

// settle asks until every order has its final status: when a callback says so, and every five seconds anyway.
func (s *Shop) settle(within time.Duration) error {
	end := time.Now().Add(within)
	for {
		var next *Order
		for _, order := range s.placed {
			if order.isOpen && (next == nil || order.askAt.Before(next.askAt)) {
				next = order
			}
		}
		if next == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is still %s", next.refid, next.status)
		}
		timer := time.NewTimer(time.Until(next.askAt))
		select {
		case <-timer.C:
			if err := s.ask(next); err != nil {
				return err
			}
		case one := <-s.heard:
			s.hear(one)
		}
		timer.Stop()
	}
}

// ask pays, or asks again, which is the same request: the service pays a refid once.
func (s *Shop) ask(order *Order) error {
	order.asked++
	status, answer, err := s.client.call(http.MethodPost, "/v2/topup", nil, order.request())
	if errors.As(err, &Unanswered{}) {
		// It may have been paid: the same refid again, with doubled waits. A new refid would pay twice.
		order.failures++
		wait := longestWait
		if order.failures < 6 {
			wait = time.Second << order.failures
		}
		order.askAt = time.Now().Add(wait / s.speed)
		return nil
	}
	if err != nil {
		return err
	}
	var parsed struct{ Data Payment }
	if err := json.Unmarshal(answer, &parsed); err != nil {
		return err
	}
	payment := parsed.Data
	order.failures, order.remarks = 0, payment.Remarks
	if status == http.StatusBadRequest {
		order.status, order.isOpen = "refused", false
		return nil
	}
	order.status, order.cost = payment.Status, payment.Cost
	order.isOpen = !isFinal(order.status)
	order.askAt = time.Now().Add(pollEvery / s.speed)
	if order.asked > 1 || order.status != "Accepted" {
		order.politeAt = order.askAt
	}
	return nil
}

// hear takes a callback for a reason to ask now. It is no proof, since it is not signed.
func (s *Shop) hear(one heard) {
	order := s.order(one.refid)
	if !isFinal(one.status) || one.status == order.status {
		return
	}
	order.isOpen, order.askAt = true, time.Now()
	if order.politeAt.After(order.askAt) {
		order.askAt = order.politeAt
	}
}
