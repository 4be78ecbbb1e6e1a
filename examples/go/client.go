package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Unanswered is no answer, or one that says nothing: the request may have been processed, and may not.
type Unanswered struct{ text string }

func (e Unanswered) Error() string { return e.text }

// Client sends signed requests with an API key.
type Client struct {
	url, key string
	secret   []byte
	http     http.Client
}

func newClient(address, key, secret string) (*Client, error) {
	decoded, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		return nil, fmt.Errorf("the secret is not Base64: %w", err)
	}
	return &Client{address, key, decoded, http.Client{
		Timeout: 35 * time.Second, // the service answers within 29 seconds, or with a 504
		// On a connection that was used before, net/http may repeat a GET by itself, and a nonce with it.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// call sends one request and returns the status, 200 or 400, and the answer. Every error but Unanswered is for somebody
// to look at: a retry changes nothing.
func (c *Client) call(method, path string, query url.Values, content any) (int, []byte, error) {
	var body []byte
	if content != nil {
		var err error
		if body, err = json.Marshal(content); err != nil {
			return 0, nil, err
		}
	}
	text := strings.ReplaceAll(query.Encode(), "+", "%20") // sorted by key
	address := c.url + path
	if text != "" {
		address += "?" + text
	}
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if err := sign(request.Header, c.key, c.secret, method, text, body); err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return 0, nil, Unanswered{fmt.Sprintf("%s %s: %v", method, path, err)}
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	status := response.StatusCode
	switch {
	case err != nil:
		return 0, nil, Unanswered{fmt.Sprintf("%s %s: %v", method, path, err)}
	case status >= 500 || status == http.StatusTooManyRequests:
		return 0, nil, Unanswered{fmt.Sprintf("%s %s: %d", method, path, status)}
	case status != http.StatusOK && status != http.StatusBadRequest:
		return 0, nil, fmt.Errorf("%s %s was answered %d: %s", method, path, status, answer)
	case !json.Valid(answer):
		return 0, nil, Unanswered{fmt.Sprintf("%s %s: no JSON", method, path)}
	}
	return status, answer, nil
}

// read decodes the answer of a GET, or of a change of settings, into result.
func (c *Client) read(result any, method, path string, query url.Values, content any) error {
	status, answer, err := c.call(method, path, query, content)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("%s %s was answered %d: %s", method, path, status, answer)
	}
	return json.Unmarshal(answer, result)
}
