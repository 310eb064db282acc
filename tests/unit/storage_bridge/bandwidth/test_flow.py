from storage_bridge.bandwidth.flow import FlowNetwork


def test_the_largest_flow_is_found_and_its_cut() -> None:
    network = FlowNetwork(4)
    edges = [network.connect(*edge) for edge in ((0, 1, 5), (0, 2, 3), (1, 2, 9), (1, 3, 2), (2, 3, 4))]
    assert network.maximise(0, 3) == 6
    assert [network.flow(edges[3]), network.flow(edges[4])] == [2, 4]
    assert network.reachable(0) == [True, True, True, False]


def test_a_flow_that_is_there_is_kept_or_led_another_way() -> None:
    network = FlowNetwork(4)
    first = network.connect(0, 1, 1, 1)
    across = network.connect(1, 2, 1, 1)
    network.connect(2, 3, 1, 1)
    network.connect(0, 2, 1)
    network.connect(1, 3, 1)
    assert network.maximise(0, 3) == 1
    assert (network.flow(first), network.flow(across)) == (1, 0)


def test_no_way_is_no_flow() -> None:
    assert FlowNetwork(2).maximise(0, 1) == 0
