"""`serve --callback`: every reseller's callbacks go there, after a reset and a reload too."""

from simulator.scenario.library import load_scenario, scenario_from_object, with_callback
from tests.support.client import running

URL = "inbox:mine"


def test_the_scenario_and_its_document_say_the_same() -> None:
    changed = with_callback(load_scenario("default"), URL)
    assert {(one.callback.url, one.callback.method) for one in changed.resellers} == {(URL, "POST")}
    assert scenario_from_object(changed.document).resellers == changed.resellers
    assert load_scenario("default").resellers[0].callback.url != URL


def test_the_callbacks_of_a_server_go_where_its_option_says_after_a_reset_and_a_reload() -> None:
    with running("default", callback=URL) as client:
        client.pay()
        client.advance()
        assert len(client.inbox("mine")) == 2
        assert client.sim("POST", "/sandboxes/default/reset").status == 200
        client.pay()
        client.advance()
        assert len(client.inbox("mine")) == 2
        client.run(client.app.load(load_scenario("default")))
        assert client.live.core.state.resellers["RS001"].callback.url == URL
        assert client.inbox() == []
