//! Tests of the guarantees of the simulated network.

use super::*;
use crate::{Clock, Loss};
use proptest::prelude::*;

const SERVER: PeerId = PeerId(0);
const CLIENT: PeerId = PeerId(1);

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Returns a packet with `number` as its content.
fn packet(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

fn send_each_ms(network: &mut Network, start: u64, count: u64) {
    for number in start..start + count {
        network.send(ms(number), SERVER, CLIENT, &packet(number));
    }
}

/// Returns the numbers of all packets that arrive by `now`, in the order of their arrival.
fn arrivals(network: &mut Network, now: Duration) -> Vec<u64> {
    let mut numbers = Vec::new();
    while let Some(delivery) = network.deliver(now) {
        numbers.push(u64::from_le_bytes(delivery.bytes.try_into().expect("8 bytes")));
    }
    numbers
}

fn one_way(seed: u64, conditions: LinkConditions) -> (Network, LinkId) {
    let mut network = Network::new(seed);
    let link = network.link(SERVER, CLIENT, conditions);
    (network, link)
}

#[test]
fn a_perfect_link_delivers_at_once_in_order_and_whole() {
    let (mut network, link) = one_way(1, LinkConditions::perfect());
    for number in 0..100 {
        network.send(ms(5), SERVER, CLIENT, &packet(number));
    }
    assert_eq!(arrivals(&mut network, ms(4)), []);
    assert_eq!(arrivals(&mut network, ms(5)), (0..100).collect::<Vec<_>>());
    let expected = LinkStats {
        sent: 100,
        delivered: 100,
        bytes_sent: 800,
        bytes_delivered: 800,
        ..LinkStats::default()
    };
    assert_eq!(network.stats(link), expected);
}

#[test]
fn latency_and_jitter_bound_the_time_of_arrival() {
    let conditions = LinkConditions { latency: ms(30), jitter: ms(10), ..LinkConditions::perfect() };
    let (mut network, link) = one_way(2, conditions);
    send_each_ms(&mut network, 0, 1_000);
    let mut spread = (Duration::MAX, Duration::ZERO);
    let mut before = Duration::ZERO;
    while let Some(at) = network.next_delivery_at() {
        assert!(network.deliver(at - Duration::from_nanos(1)).is_none());
        let delivery = network.deliver(at).expect("announced");
        let sent = ms(u64::from_le_bytes(delivery.bytes.try_into().expect("8 bytes")));
        assert!(delivery.at == at && at >= before);
        before = at;
        spread = (spread.0.min(at - sent), spread.1.max(at - sent));
    }
    assert!(spread.0 >= ms(30) && spread.0 < ms(31) && spread.1 <= ms(40) && spread.1 > ms(39));
    assert!(network.stats(link).reordered > 100);
}

#[test]
fn bursts_lose_exactly_as_many_as_were_asked_for() {
    for burst in [1, 63, 64, 65, 255, 256, 257, 1_024] {
        let (mut network, link) = one_way(3, LinkConditions::perfect());
        send_each_ms(&mut network, 0, 10);
        network.lose_next(link, burst);
        send_each_ms(&mut network, 10, burst + 10);
        let expected: Vec<u64> = (0..10).chain(10 + burst..20 + burst).collect();
        assert_eq!(arrivals(&mut network, ms(10_000)), expected);
        assert_eq!(network.stats(link).lost, burst);
    }
}

#[test]
fn a_blackout_ends_by_itself_and_a_severed_link_when_mended() {
    let conditions = LinkConditions { latency: ms(20), ..LinkConditions::perfect() };
    let (mut network, link) = one_way(4, conditions);
    let back = network.link(CLIENT, SERVER, conditions);
    send_each_ms(&mut network, 0, 10);
    network.blackout(link, ms(15));
    assert!(network.is_cut(link, ms(14)) && !network.is_cut(link, ms(15)));
    send_each_ms(&mut network, 10, 10);
    network.sever(link);
    assert!(network.is_cut(link, ms(20)) && !network.is_cut(back, ms(20)));
    send_each_ms(&mut network, 20, 10);
    network.send(ms(25), CLIENT, SERVER, &packet(1_000));
    network.mend(link);
    send_each_ms(&mut network, 30, 1);
    let expected: Vec<u64> = (0..10).chain(15..20).chain([1_000, 30]).collect();
    assert_eq!(arrivals(&mut network, ms(100)), expected);
}

#[test]
fn a_packet_over_the_mtu_is_lost() {
    let (mut network, link) = one_way(5, LinkConditions { mtu_bytes: 100, ..LinkConditions::perfect() });
    network.send(ms(0), SERVER, CLIENT, &[0; 100]);
    network.send(ms(0), SERVER, CLIENT, &[0; 101]);
    assert_eq!(network.deliver(ms(0)).map(|delivery| delivery.bytes.len()), Some(100));
    assert!(network.deliver(ms(0)).is_none());
    assert_eq!(network.stats(link).too_long, 1);
}

#[test]
fn bandwidth_spaces_packets_out_and_a_full_queue_loses_them() {
    let conditions = LinkConditions {
        bandwidth_bytes_per_second: Some(10_000),
        queue_bytes: 1_000,
        ..LinkConditions::perfect()
    };
    let (mut network, link) = one_way(6, conditions);
    for _ in 0..15 {
        network.send(ms(0), SERVER, CLIENT, &[0; 100]);
    }
    for nth in 1..=10 {
        assert_eq!(network.deliver(ms(1_000)).map(|delivery| delivery.at), Some(ms(10 * nth)));
    }
    assert!(network.deliver(ms(1_000)).is_none());
    assert_eq!((network.stats(link).congested, network.stats(link).lost), (5, 5));
    network.send(ms(1_000), SERVER, CLIENT, &[0; 100]);
    assert_eq!(network.next_delivery_at(), Some(ms(1_010)));
}

#[test]
fn damage_flips_one_bit_and_no_more() {
    let (mut network, link) = one_way(7, LinkConditions { corrupt: 1.0, ..LinkConditions::perfect() });
    let mut flipped = 0;
    for _ in 0..1_000 {
        network.send(ms(0), SERVER, CLIENT, &packet(0));
        let delivery = network.deliver(ms(0)).expect("delivered");
        let bits = u64::from_le_bytes(delivery.bytes.try_into().expect("8 bytes"));
        assert_eq!(bits.count_ones(), 1);
        flipped |= bits;
    }
    assert_eq!(flipped, u64::MAX, "each bit was hit once");
    network.send(ms(0), SERVER, CLIENT, &[]);
    assert_eq!(network.deliver(ms(0)).map(|delivery| delivery.bytes.len()), Some(0));
    assert_eq!(network.stats(link).corrupted, 1_000);
}

#[test]
fn losses_by_script_and_other_links_leave_the_fate_of_a_packet_as_it_was() {
    let run = |eventful: bool| {
        let (mut network, link) = one_way(8, LinkConditions::hostile());
        send_each_ms(&mut network, 0, 50);
        if eventful {
            network.connect(CLIENT, PeerId(2), LinkConditions::hostile());
            network.send(ms(50), CLIENT, PeerId(2), &packet(60));
            network.lose_next(link, 30);
        }
        send_each_ms(&mut network, 50, 100);
        arrivals(&mut network, ms(100_000))
    };
    let mut quiet = run(false);
    quiet.retain(|number| !(50..80).contains(number));
    let mut eventful = run(true);
    eventful.retain(|&number| number != 60);
    assert_eq!(eventful, quiet);
}

#[test]
fn buffers_are_used_again() {
    let (mut network, _) = one_way(9, LinkConditions { latency: ms(10), ..LinkConditions::perfect() });
    let mut clock = Clock::at_hz(1_000);
    for _ in 0..1_000 {
        let now = clock.tick();
        network.send(now, SERVER, CLIENT, &[1; 64]);
        while network.deliver(now).is_some() {}
    }
    assert!(network.spare.len() + network.in_flight.len() <= 13);
}

#[test]
#[should_panic(expected = "peer 0 has no link to peer 1")]
fn sending_without_a_link_says_what_to_do() {
    Network::new(0).send(ms(0), SERVER, CLIENT, &[]);
}

#[test]
fn traces_never_change() {
    let (mut network, _) = one_way(10, LinkConditions::hostile());
    send_each_ms(&mut network, 0, 200);
    arrivals(&mut network, ms(100_000));
    assert_eq!(network.trace(), 12_515_084_540_589_970_714, "a seed gives other deliveries than it used to");
}

fn conditions() -> impl Strategy<Value = LinkConditions> {
    let chance = || prop_oneof![Just(0.0), 0.0..=1.0];
    let loss = prop_oneof![
        Just(Loss::None),
        chance().prop_map(Loss::Independent),
        (chance(), chance(), chance(), chance()).prop_map(|(to_bad, to_good, when_good, when_bad)| {
            Loss::GilbertElliott {
                good_to_bad: to_bad,
                bad_to_good: to_good,
                loss_when_good: when_good,
                loss_when_bad: when_bad,
            }
        }),
    ];
    let times = (0_u64..100, 0_u64..100, 0_u64..500);
    let bandwidth = prop::option::of(1_u64..1_000_000);
    (loss, times, chance(), chance(), chance(), 0_usize..64, bandwidth, 0_usize..10_000).prop_map(
        |(loss, (latency, jitter, late), duplicate, reorder, corrupt, mtu_bytes, bandwidth, queue_bytes)| {
            LinkConditions {
                latency: ms(latency),
                jitter: ms(jitter),
                loss,
                duplicate,
                reorder,
                reorder_by: ms(late),
                corrupt,
                mtu_bytes,
                bandwidth_bytes_per_second: bandwidth,
                queue_bytes,
            }
        },
    )
}

#[derive(Clone, Debug)]
enum Act {
    Send { length: usize },
    Wait { milliseconds: u64 },
    LoseNext { packets: u64 },
    Blackout { milliseconds: u64 },
    Sever,
    Mend,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        20 => (0_usize..70).prop_map(|length| Act::Send { length }),
        10 => (0_u64..50).prop_map(|milliseconds| Act::Wait { milliseconds }),
        1 => (0_u64..20).prop_map(|packets| Act::LoseNext { packets }),
        1 => (0_u64..200).prop_map(|milliseconds| Act::Blackout { milliseconds }),
        1 => Just(Act::Sever),
        2 => Just(Act::Mend),
    ]
}

/// Performs the actions `acts` on two links, and then lets all packets arrive. Each time the clock moves on,
/// the test checks that the numbers of packets are consistent.
fn perform(seed: u64, conditions: LinkConditions, acts: &[Act]) -> (LinkStats, u64) {
    let mut network = Network::new(seed);
    let (there, back) = network.connect(SERVER, CLIENT, conditions);
    let mut now = Duration::ZERO;
    let mut delivered = 0;
    let end = [Act::Wait { milliseconds: u64::MAX >> 20 }];
    for (number, act) in acts.iter().chain(&end).enumerate() {
        match *act {
            Act::Send { length } => {
                network.send(now, SERVER, CLIENT, &vec![number as u8; length]);
                network.send(now, CLIENT, SERVER, &[1]);
            }
            Act::Wait { milliseconds } => {
                now += ms(milliseconds);
                while network.deliver(now).is_some() {
                    delivered += 1;
                }
                let total = network.total();
                assert_eq!(total.delivered, delivered);
                assert_eq!(total.in_flight(), network.in_flight.len() as u64);
            }
            Act::LoseNext { packets } => network.lose_next(there, packets),
            Act::Blackout { milliseconds } => network.blackout(back, now + ms(milliseconds)),
            Act::Sever => network.sever(there),
            Act::Mend => network.mend(there),
        }
    }
    assert_eq!(network.total().in_flight(), 0);
    let stats = network.stats(there);
    assert!(stats.too_long + stats.congested <= stats.lost && stats.reordered <= stats.delivered);
    (network.total(), network.trace())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_packet_is_missing_from_the_counts_and_a_seed_has_one_trace(
        seed in any::<u64>(), conditions in conditions(), acts in prop::collection::vec(act(), 0..200)
    ) {
        prop_assert_eq!(perform(seed, conditions, &acts), perform(seed, conditions, &acts));
    }

    #[test]
    fn other_seeds_give_other_traces(seed in any::<u64>()) {
        let acts: Vec<Act> = (0..100).map(|length| Act::Send { length: length % 60 }).collect();
        let conditions = LinkConditions::hostile();
        prop_assert_ne!(perform(seed, conditions, &acts).1, perform(seed ^ 1, conditions, &acts).1);
    }
}
