//! Tests of the congestion control on a simple model of a link.

use proptest::prelude::*;

use super::*;

const PACKET: usize = 1_200;
const STEP: Duration = Duration::from_millis(16);

/// A simulated link: it has a rate in bytes a second, a queue and a fixed delay, and its peer sends acks once
/// in a tick.
struct Link {
    congestion: Bbr,
    rate: u64,
    delay: Duration,
    now: Duration,
    idle_at: Duration,
    number: u64,
    /// The number of each packet, and the time when its ack arrives.
    acks: VecDeque<(u64, Duration)>,
    longest_queue: Duration,
    loss_of: u64,
    sent: u64,
    delivered: u64,
}

impl Link {
    fn new(rate: u64, delay: Duration) -> Self {
        let congestion = Bbr::new(PACKET);
        let (now, idle_at, longest_queue) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        let acks = VecDeque::new();
        Self {
            congestion,
            rate,
            delay,
            now,
            idle_at,
            number: 0,
            acks,
            longest_queue,
            loss_of: 0,
            sent: 0,
            delivered: 0,
        }
    }

    fn run(&mut self, ticks: std::ops::Range<u32>, wanted: usize) {
        for _ in ticks {
            self.step(wanted);
        }
    }

    /// Advances the time by the interval that the sender waits before it tries again after `timeouts`
    /// timeouts.
    fn wait(&mut self, timeouts: u32) {
        for _ in 0..16 {
            self.now += STEP;
            self.congestion.begin_pass(self.now, timeouts);
        }
    }

    /// Runs one tick with at most `wanted` packets to send. Returns how many packets were sent.
    fn step(&mut self, wanted: usize) -> usize {
        self.now += STEP;
        let mut newest = None;
        while self.acks.front().is_some_and(|(_, at)| *at <= self.now) {
            let Some((number, _)) = self.acks.pop_front() else { break };
            if self.loss_of > 0 && number % self.loss_of == 0 {
                self.congestion.lost(number, PACKET);
            } else {
                self.congestion.arrived(number, PACKET);
                self.delivered += PACKET as u64;
                newest = Some(number);
            }
        }
        if let Some(newest) = newest {
            self.congestion.acked(newest, self.now);
        }
        self.congestion.begin_pass(self.now, 0);
        let mut sent = 0;
        while sent < wanted && self.congestion.room_bytes() >= PACKET {
            self.congestion.sent(self.number, PACKET, self.now);
            self.idle_at =
                self.idle_at.max(self.now) + Duration::from_nanos(PACKET as u64 * 1_000_000_000 / self.rate);
            self.longest_queue = self.longest_queue.max(self.idle_at - self.now);
            self.acks.push_back((self.number, self.idle_at + self.delay));
            (self.number, sent) = (self.number + 1, sent + 1);
        }
        self.sent += (sent * PACKET) as u64;
        self.congestion.end_pass(self.now, sent < wanted);
        sent
    }
}

#[test]
fn the_first_flight_has_ten_packets() {
    assert_eq!(Link::new(1_000_000, Duration::from_millis(100)).step(100), 10);
}

#[test]
fn a_link_is_filled_and_its_queue_kept_short() {
    for (rate, delay) in [(200_000, 100), (1_000_000, 40), (5_000_000, 2), (1_000_000, 200)] {
        let mut link = Link::new(rate, Duration::from_millis(delay));
        link.run(0..300, 1_000);
        let (before, steps) = (link.delivered, 600);
        link.longest_queue = Duration::ZERO;
        link.run(0..steps, 1_000);
        let could = bytes_in(rate, STEP * steps);
        let delivered = link.delivered - before;
        assert!(delivered > could * 8 / 10, "{delivered} of {could} bytes at {rate}");
        let round_trip = Duration::from_millis(delay) + STEP;
        assert!(
            link.longest_queue < round_trip * 3 + STEP * 2,
            "a queue of {:?} at {rate}",
            link.longest_queue
        );
    }
}

#[test]
fn a_fast_link_is_filled_within_a_second() {
    let mut link = Link::new(100_000_000, Duration::from_millis(1));
    link.run(0..60, 10_000);
    assert!(link.congestion.rate() > 50_000_000, "{}", link.congestion.rate());
}

#[test]
fn losses_at_random_do_not_slow_a_link_down() {
    let mut link = Link::new(500_000, Duration::from_millis(60));
    link.loss_of = 5;
    link.run(0..900, 1_000);
    let could = bytes_in(500_000, link.now);
    assert!(link.delivered > could / 2, "{} of {could} bytes", link.delivered);
}

/// Returns links that have been used for different lengths of time, so that a test can change them at several
/// times between two measurements of the shortest round trip.
fn used_links(rate: u64, delay: Duration) -> impl Iterator<Item = Link> {
    (375..720).step_by(23).map(move |steps| {
        let mut link = Link::new(rate, delay);
        link.run(0..steps, 1_000);
        link
    })
}

#[test]
fn a_link_whose_round_trip_becomes_longer_is_filled_again() {
    let rate = 1_000_000;
    // With `u32::MAX`, the server always has more to send than the link can carry. Otherwise it sometimes has
    // less.
    for pause in [u32::MAX, 50, 200] {
        for mut link in used_links(rate, Duration::from_millis(20)) {
            link.delay = Duration::from_millis(300);
            let mut run = |steps: u32| {
                let before = link.delivered;
                (1..=steps).for_each(|step| _ = link.step(if step % pause == 0 { 1 } else { 1_000 }));
                link.delivered - before
            };
            run(750);
            let (delivered, could) = (run(600), bytes_in(rate, STEP * 600));
            assert!(delivered > could * 8 / 10, "{delivered} of {could} bytes, pause {pause}");
        }
    }
}

#[test]
fn the_queue_of_a_link_that_becomes_narrower_is_drained() {
    for rate in [300_000, 200_000, 100_000] {
        for mut link in used_links(1_000_000, Duration::from_millis(20)) {
            link.rate = rate;
            link.run(0..500, 1_000);
            link.longest_queue = Duration::ZERO;
            link.run(0..1_500, 1_000);
            let queue = link.longest_queue;
            assert!(queue < Duration::from_millis(500), "a queue of {queue:?} at {rate}");
        }
    }
}

#[test]
fn little_to_send_does_not_lower_what_is_known() {
    let mut link = Link::new(1_000_000, Duration::from_millis(40));
    link.run(0..300, 1_000);
    let known = link.congestion.rate();
    link.run(0..1_000, 1);
    assert!(link.congestion.rate() >= known, "{} after {known}", link.congestion.rate());
}

#[test]
fn r26_a_silent_link_is_probed_and_comes_back_whole() {
    let mut link = Link::new(1_000_000, Duration::from_millis(40));
    link.run(0..300, 1_000);
    let window = link.congestion.window();
    let mut windows = Vec::new();
    for timeouts in 0..80 {
        link.wait(timeouts);
        windows.push(link.congestion.window());
    }
    assert_eq!(windows[..2], [window; 2]);
    assert!(windows.is_sorted_by(|one, next| one >= next));
    assert_eq!(windows[79], 2 * PACKET as u64);
    link.congestion.begin_pass(link.now, 0);
    assert_eq!(link.congestion.window(), window);
}

#[test]
fn r26_a_link_that_goes_silent_while_its_round_trip_is_measured_is_probed() {
    let mut link = Link::new(1_000_000, Duration::from_millis(40));
    while !matches!(link.congestion.phase, Phase::ProbeRoundTrip { .. }) {
        link.step(1_000);
    }
    (1..20).for_each(|timeouts| link.wait(timeouts));
    assert_eq!(link.congestion.window(), PROBE_PACKETS * PACKET as u64);
}

#[test]
fn r09_timeouts_of_the_packets_of_each_tick_count_as_one_try() {
    let mut link = Link::new(1_000_000, Duration::from_millis(40));
    link.run(0..300, 1_000);
    let window = link.congestion.window();
    for timeouts in 1..15 {
        link.now += STEP;
        link.congestion.begin_pass(link.now, timeouts);
        assert_eq!(link.congestion.window(), window);
    }
    // An ack of a packet that counted as lost ends the silence, even though it does not change the number
    // of timeouts.
    for timeouts in 15..25 {
        link.wait(timeouts);
    }
    assert_eq!(link.congestion.window(), PROBE_PACKETS * PACKET as u64);
    link.congestion.acked(link.number - 1, link.now);
    link.congestion.begin_pass(link.now, 25);
    assert!(link.congestion.window() > PROBE_PACKETS * PACKET as u64);
}

#[test]
fn r09_where_nine_of_ten_are_lost_and_acks_come_more_than_the_usual_least_may_be_in_flight() {
    let mut congestion = Bbr::new(PACKET);
    let least = congestion.least_window();
    (0..100).for_each(|_| congestion.lost(0, PACKET));
    assert_eq!(congestion.least_window(), least, "nobody was heard");
    congestion.sent(0, PACKET, Duration::ZERO);
    congestion.acked(0, STEP);
    assert_eq!(congestion.least_window(), least * BAD_GAIN);
    (0..SHARE_PACKETS).for_each(|_| congestion.arrived(0, PACKET));
    assert_eq!(congestion.least_window(), least);
}

#[test]
fn a_link_that_becomes_slower_is_known_to_be_slower() {
    let mut link = Link::new(1_000_000, Duration::from_millis(40));
    link.run(0..300, 1_000);
    assert!(link.congestion.rate() > 800_000, "{}", link.congestion.rate());
    link.rate = 500_000;
    link.run(0..600, 1_000);
    assert!(link.congestion.rate() < 600_000, "{}", link.congestion.rate());
}

/// Runs 1,000 ticks of the simulated link. Returns the number of ticks in which the controller was measuring
/// the shortest round trip, and the smallest number of bytes in flight in such a tick.
fn probed(link: &mut Link, wanted: usize) -> (u32, u64) {
    let (mut ticks, mut least) = (0, u64::MAX);
    for _ in 0..1_000 {
        link.step(wanted);
        if let Phase::ProbeRoundTrip { .. } = link.congestion.phase {
            (ticks, least) = (ticks + 1, least.min(link.congestion.in_flight));
        }
    }
    (ticks, least)
}

#[test]
fn a_busy_link_is_drained_to_measure_its_round_trip_and_an_idle_link_is_not() {
    let mut link = Link::new(1_000_000, Duration::from_millis(100));
    link.run(0..300, 1_000);
    let product = link.congestion.product();
    let (ticks, least) = probed(&mut link, 1_000);
    assert!((20..150).contains(&ticks), "{ticks} of 1,000 ticks");
    assert!(least <= product / 2, "{least} bytes, the link carries {product} in a round trip");
    // In a part of the first time span, the server still had something to send.
    link.run(0..400, 1);
    assert_eq!(probed(&mut link, 1).0, 0);
}

#[test]
fn unused_credit_is_not_sent_in_one_burst() {
    let mut link = Link::new(1_000_000, Duration::from_millis(200));
    link.run(0..300, 1_000);
    link.run(0..300, 1);
    let burst = (link.step(10_000) * PACKET) as u64;
    let most = bytes_in(link.congestion.pacing_rate(), STEP * 2).max(link.congestion.least_window());
    assert!(burst <= most && link.congestion.window() > most * 2, "{burst} bytes at once, {most} may be");
}

/// Lets the packets `packets` arrive, and acks them.
fn acknowledge(congestion: &mut Bbr, packets: std::ops::RangeInclusive<u64>, now: Duration) {
    let newest = *packets.end();
    packets.for_each(|number| congestion.arrived(number, PACKET));
    congestion.acked(newest, now);
}

#[test]
fn packets_that_arrive_together_are_not_taken_for_a_fast_link() {
    let packet = PACKET as u64;
    // An ack that arrives within a tick can show at most that the bytes sent in this tick have arrived.
    let mut congestion = Bbr::new(PACKET);
    (0..10).for_each(|number| congestion.sent(number, PACKET, Duration::ZERO));
    acknowledge(&mut congestion, 0..=9, Duration::from_millis(1));
    assert_eq!(congestion.rate(), 10 * packet * 1_000 / 16);
    // The link stops for a second, and then delivers the packets that were sent in this second.
    let mut congestion = Bbr::new(PACKET);
    (0..60).for_each(|number| congestion.sent(number, PACKET, STEP * number as u32));
    acknowledge(&mut congestion, 0..=0, STEP * 60);
    congestion.sent(60, PACKET, STEP * 60);
    acknowledge(&mut congestion, 1..=60, STEP * 61);
    assert_eq!(congestion.rate(), 60 * packet * 1_000 / (16 * 60));
}

#[test]
fn the_time_without_packets_in_flight_does_not_count() {
    let mut congestion = Bbr::new(PACKET);
    congestion.sent(0, PACKET, Duration::ZERO);
    acknowledge(&mut congestion, 0..=0, STEP);
    let later = Duration::from_secs(10);
    (1..=10).for_each(|number| congestion.sent(number, PACKET, later));
    acknowledge(&mut congestion, 1..=10, later + STEP);
    assert_eq!(congestion.rate(), 10 * PACKET as u64 * 1_000 / 16);
}
#[test]
fn flights_that_are_never_acked_take_limited_memory() {
    let mut congestion = Bbr::new(PACKET);
    for number in 0..3 * WINDOW {
        congestion.sent(number, PACKET, STEP * number as u32);
        congestion.lost(number, PACKET);
    }
    assert_eq!(congestion.flights.len(), WINDOW as usize);
}

#[test]
fn the_shortest_round_trip_counts_for_one_to_two_spans() {
    let mut congestion = Bbr::new(PACKET);
    let [short, long] = [20, 100].map(Duration::from_millis);
    congestion.observe(short, SHORTEST_SPAN - STEP);
    congestion.observe(long, SHORTEST_SPAN);
    congestion.observe(long, SHORTEST_SPAN * 2 - STEP);
    assert_eq!(congestion.shortest(), short);
    congestion.observe(long, SHORTEST_SPAN * 2);
    assert_eq!(congestion.shortest(), long);
}

#[test]
fn where_many_packets_are_lost_little_to_send_lowers_what_is_known() {
    let mut link = Link::new(1_000_000, Duration::from_millis(40));
    link.run(0..300, 1_000);
    link.loss_of = 2;
    link.run(0..1_000, 1);
    let sent = PACKET as u64 * 1_000 / 16;
    assert!(link.congestion.rate() <= sent, "{} of {sent} bytes a second", link.congestion.rate());
}

#[test]
fn a_server_that_stood_still_sends_no_burst() {
    let mut link = Link::new(1_000_000, Duration::from_millis(500));
    link.run(0..300, 1_000);
    link.run(0..300, 1);
    link.now += Duration::from_secs(10);
    let burst = (link.step(10_000) * PACKET) as u64;
    let most = bytes_in(link.congestion.pacing_rate(), LONGEST_TICK * 2);
    assert!(burst <= most, "{burst} bytes at once, {most} may be");
}

#[test]
fn r09_a_silent_link_is_sent_one_window_in_each_retry_interval() {
    let mut link = Link::new(1_000_000, Duration::from_millis(40));
    link.run(0..300, 1_000);
    while let Some((number, _)) = link.acks.pop_front() {
        link.congestion.lost(number, PACKET);
    }
    // For a while the server has nothing to send.
    (0..40).for_each(|timeouts| link.wait(timeouts));
    let mut sent_at_once = || {
        let mut packets = 0;
        while link.congestion.room_bytes() >= PACKET {
            link.congestion.sent(link.number, PACKET, link.now);
            link.congestion.lost(link.number, PACKET);
            (link.number, packets) = (link.number + 1, packets + 1);
        }
        link.wait(40);
        packets
    };
    assert_eq!([sent_at_once(), sent_at_once(), sent_at_once()], [PROBE_PACKETS; 3]);
}
#[test]
fn a_trial_sends_few_packets_at_once() {
    let mut link = Link::new(30_000, Duration::from_millis(40));
    link.loss_of = 2;
    let (mut steps, mut most) = (0, 0);
    for step in 0..3_000 {
        // The credit that has grown during a pause is not used in one burst of packets.
        let sent = link.step(if step % 8 == 0 { 1_000 } else { 0 });
        if link.congestion.trial.is_limit() {
            (steps, most) = (steps + 1, most.max(sent as u64));
        }
    }
    assert!(steps > 300, "{steps} steps of a trial");
    let in_two_ticks = bytes_in(link.congestion.least_rate(), STEP * 2) / PACKET as u64;
    assert!(most <= PACKETS_AT_ONCE.max(in_two_ticks), "{most} packets, {in_two_ticks} in two ticks");
}

proptest! {
    #[test]
    fn scaled_numbers_are_exact_up_to_the_greatest(
        number in any::<u64>(), bits in 0..64_u32, time in any::<u64>(), unit in 1..u64::MAX,
    ) {
        let number = number >> bits;
        let exact = u128::from(number) * u128::from(time) / u128::from(unit);
        let found = scale(number, Duration::from_nanos(time), Duration::from_nanos(unit));
        prop_assert_eq!(u128::from(found), exact.min(u64::MAX.into()));
    }
}
