//! Tests of the messages that wait to be sent.

use super::*;
use crate::messages::channel::{Channel, MessageOptions};
use crate::outbox::Limits;
use crate::sent::in_flight::Delivery;

struct Side {
    outgoing: Outgoing,
    outbox: Outbox<()>,
}

impl Side {
    fn new(channels: &[Channel]) -> Self {
        Self::with_packets(200, channels)
    }

    /// Returns a side with packets of this many bytes.
    fn with_packets(bytes: usize, channels: &[Channel]) -> Self {
        let limits = Limits {
            packets_in_flight: 100,
            bytes_in_flight: usize::MAX,
            bytes_per_pass: usize::MAX,
            memory_bytes: usize::MAX,
        };
        let mut outgoing = Outgoing::default();
        let options = MessageOptions { max_bytes: 4_000, ..MessageOptions::default() };
        outgoing.begin(channels.iter().map(|&channel| ChannelConfig { channel, options }));
        Self { outgoing, outbox: Outbox::new(Sequence::new(0), bytes, limits) }
    }

    fn add(&mut self, channel: u16, bytes: usize) -> Result<(), SendError> {
        let mut writer = BitWriter::new();
        (0..bytes).for_each(|_| writer.write_bits(0xff, 8));
        self.outgoing.add(channel, &mut writer, self.outbox.capacity())
    }

    /// Sends the packets of a tick. Returns the messages of each packet.
    fn send(&mut self) -> Vec<Vec<(u16, u64)>> {
        self.send_if(true)
    }

    /// Sends the packets of a tick. The other side may receive messages for viewers (clients that see an
    /// object) only if `sees` is true.
    fn send_if(&mut self, sees: bool) -> Vec<Vec<(u16, u64)>> {
        let first = self.outbox.sequence();
        self.outbox.begin_pass();
        self.outgoing.begin_pass();
        self.outgoing.send(&mut self.outbox, usize::MAX, &|_, _| sees, Duration::ZERO);
        self.outbox.end_pass(Duration::ZERO);
        let sequences = (first.number()..self.outbox.sequence().number()).map(Sequence::new);
        sequences.map(|sequence| self.messages_in(sequence)).collect()
    }

    fn fit(&mut self, bytes: usize) {
        let mut size = *self.outbox.size();
        size.agree(bytes);
        assert!(self.outbox.set_size(size));
        self.outgoing.fit(self.outbox.capacity(), &mut self.outbox.in_flight);
    }

    fn messages_in(&mut self, sequence: Sequence) -> Vec<(u16, u64)> {
        let packet = self.outbox.in_flight.get(sequence).expect("a packet in flight");
        packet.messages.iter().map(|message| (message.channel, message.number)).collect()
    }

    fn resolve(&mut self, packet: u64, delivery: Delivery) {
        let sequence = Sequence::new(packet);
        self.outbox.in_flight.resolve(sequence, delivery).expect("a packet in flight");
        let packet = self.outbox.in_flight.get(sequence).expect("a packet in flight");
        match delivery {
            Delivery::Lost => self.outgoing.lost(sequence, &packet.messages),
            _ => self.outgoing.arrived(&packet.messages),
        }
        self.outbox.in_flight.trim();
    }
}

#[test]
fn a_lost_message_is_sent_again_and_an_arrived_one_is_not() {
    let mut side = Side::new(&[Channel::Ordered, Channel::Unordered]);
    (0..3).for_each(|_| side.add(0, 100).unwrap());
    side.add(1, 10).unwrap();
    assert_eq!(side.send(), [vec![(0, 0)], vec![(0, 1)], vec![(0, 2), (1, 0)]]);
    assert_eq!(side.send(), [[]; 0]);
    side.resolve(0, Delivery::Lost);
    side.resolve(1, Delivery::Arrived);
    side.resolve(2, Delivery::Lost);
    assert_eq!(side.send(), [vec![(1, 0), (0, 0)], vec![(0, 2)]], "the channels take turns");
    side.resolve(3, Delivery::Arrived);
    side.resolve(4, Delivery::Arrived);
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

fn range(first: u64, last: u64) -> AckRange {
    AckRange { first: Sequence::new(first), last: Sequence::new(last) }
}

#[test]
fn r04_a_late_ack_of_a_packet_that_counted_as_lost_counts_for_its_messages() {
    let mut side = Side::new(&[Channel::Ordered]);
    (0..3).for_each(|_| side.add(0, 100).unwrap());
    assert_eq!(side.send().len(), 3);
    (0..3).for_each(|packet| side.resolve(packet, Delivery::Lost));
    side.outgoing.arrived_late(range(0, 1));
    side.outgoing.arrived_late(range(0, 1));
    assert_eq!(side.send(), [vec![(0, 2)]], "only the last one is sent again");
    // The ack of the first copy also counts if the message was sent again in the meantime.
    side.outgoing.arrived_late(range(2, 2));
    side.resolve(3, Delivery::Lost);
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

#[test]
fn r04_messages_that_are_lost_again_and_again_take_limited_memory_and_none_when_acked() {
    let mut side = Side::new(&[Channel::Ordered, Channel::Unreliable]);
    (0..40).for_each(|_| side.add(0, 10).unwrap());
    let stored = side.outgoing.held_bytes();
    for _ in 0..200 {
        side.add(1, 10).unwrap();
        let first = side.outbox.sequence().number();
        let packets = side.send().len() as u64;
        (first..first + packets).for_each(|packet| side.resolve(packet, Delivery::Lost));
    }
    let held = side.outgoing.held_bytes() - stored;
    assert!((20_000..80_000).contains(&held), "{held} bytes");
    let first = side.outbox.sequence().number();
    let packets = side.send().len() as u64;
    (first..first + packets).for_each(|packet| side.resolve(packet, Delivery::Arrived));
    assert_eq!(side.outgoing.held_bytes(), 0);
}

#[test]
fn r09_messages_on_a_silent_link_are_sent_again_before_they_count_as_lost() {
    let mut side = Side::new(&[Channel::Ordered, Channel::Unreliable]);
    side.add(0, 10).unwrap();
    side.add(1, 10).unwrap();
    side.send();
    side.outgoing.retry(&side.outbox.in_flight, Duration::ZERO);
    assert_eq!(side.send(), [[(0, 0)]], "the reliable one");
    side.resolve(0, Delivery::Lost);
    assert_eq!(side.send(), [[]; 0], "the second packet may still arrive");
    side.resolve(1, Delivery::Lost);
    side.outgoing.arrived_late(range(0, 0));
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

#[test]
fn a_loss_of_an_earlier_packet_does_not_repeat_what_a_later_one_has() {
    let mut side = Side::new(&[Channel::Ordered]);
    side.add(0, 10).unwrap();
    side.send();
    side.resolve(0, Delivery::Lost);
    assert_eq!(side.send(), [[(0, 0)]]);
    // The loss is recorded again, as for an old packet.
    side.outgoing.lost(Sequence::new(0), &[SentMessage { channel: 0, number: 0, part: 0 }]);
    assert_eq!(side.send(), [[]; 0]);
}

#[test]
fn sequenced_messages_are_sent_in_as_many_passes_as_they_have_copies() {
    let mut side = Side::new(&[Channel::Sequenced { copies: 3 }]);
    side.add(0, 4).unwrap();
    assert_eq!(side.send(), [[(0, 0)]]);
    side.add(0, 4).unwrap();
    assert_eq!(side.send(), [[(0, 0), (0, 1)]]);
    side.resolve(0, Delivery::Lost);
    assert_eq!(side.send(), [[(0, 0), (0, 1)]]);
    assert_eq!(side.send(), [[(0, 1)]]);
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    // After an ack, no more copies of this message and of older messages are sent.
    (0..3).for_each(|_| side.add(0, 4).unwrap());
    assert_eq!(side.send(), [[(0, 2), (0, 3), (0, 4)]]);
    side.add(0, 4).unwrap();
    side.resolve(4, Delivery::Arrived);
    assert_eq!(side.send(), [[(0, 5)]]);
}

#[test]
fn sequenced_messages_never_fill_their_channel() {
    let mut side = Side::new(&[Channel::Sequenced { copies: 0 }, Channel::Sequenced { copies: 200 }]);
    for _ in 0..5_000 {
        side.add(0, 100).unwrap();
        side.add(1, 100).unwrap();
    }
    let held = side.outgoing.held_bytes();
    assert!(held <= 2 * 1_024 * 164, "1,024 messages of 100 bytes in each channel: {held}");
    assert_eq!(side.send().concat().len(), 100, "as many as packets may be in flight");
    (0..500).for_each(|_| side.add(1, 1_000).unwrap());
    assert!(side.outgoing.held_bytes() <= 2 * MAX_BYTES, "{}", side.outgoing.held_bytes());
}

#[test]
fn w14_a_full_channel_takes_messages_again_after_an_ack() {
    let mut side = Side::new(&[Channel::Unordered]);
    (0..MAX_MESSAGES).for_each(|_| side.add(0, 1).unwrap());
    assert_eq!(side.add(0, 1), Err(SendError::Full));
    let packets = side.send();
    let (first, count) = (&packets[0], packets[0].len());
    assert_eq!(first.first(), Some(&(0, 0)));
    side.resolve(1, Delivery::Arrived);
    assert_eq!(side.add(0, 1), Err(SendError::Full), "the window begins with the first message");
    side.resolve(0, Delivery::Arrived);
    let free = count + packets[1].len();
    (0..free).for_each(|_| side.add(0, 1).unwrap());
    assert_eq!(side.add(0, 1), Err(SendError::Full));
}

#[test]
fn a_large_message_is_sent_in_parts_and_lost_parts_are_sent_again() {
    let mut side = Side::new(&[Channel::Ordered]);
    side.add(0, 1_000).unwrap();
    let packets = side.send();
    assert!(packets.iter().all(|messages| messages.iter().all(|message| *message == (0, 0))));
    let parts: Vec<usize> = packets.iter().map(Vec::len).collect();
    assert!(parts.len() > 6 && parts[0] > 1, "{parts:?}");
    (0..parts.len()).filter(|at| at % 2 == 0).for_each(|at| side.resolve(at as u64, Delivery::Arrived));
    side.resolve(1, Delivery::Lost);
    side.resolve(3, Delivery::Lost);
    assert_eq!(side.send().concat().len(), parts[1] + parts[3]);
    assert!(side.outgoing.held_bytes() > 1_000);
    let unresolved =
        (parts.len() as u64..side.outbox.sequence().number()).chain((5..parts.len() as u64).step_by(2));
    unresolved.for_each(|at| side.resolve(at, Delivery::Arrived));
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

#[test]
fn all_sequenced_messages_of_a_tick_are_sent_in_as_many_passes_as_they_have_copies() {
    let mut side = Side::new(&[Channel::Sequenced { copies: 2 }]);
    (0..5).for_each(|_| side.add(0, 4).unwrap());
    assert_eq!(side.send().concat(), [0, 1, 2, 3, 4].map(|number| (0, number)));
    (0..3).for_each(|_| side.add(0, 4).unwrap());
    assert_eq!(side.send().concat(), [0, 1, 2, 3, 4, 5, 6, 7].map(|number| (0, number)));
    assert_eq!(side.send().concat(), [5, 6, 7].map(|number| (0, number)));
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

#[test]
fn of_sequenced_messages_that_find_no_room_those_of_the_newest_ticks_wait() {
    let mut side = Side::new(&[Channel::Sequenced { copies: 2 }]);
    for _ in 0..10 {
        (0..3).for_each(|_| side.add(0, 4).unwrap());
        side.outgoing.begin_pass();
        side.outgoing.send(&mut side.outbox, 0, &|_, _| true, Duration::ZERO);
    }
    // The messages wait as long as there is no room.
    for _ in 0..10 {
        side.outgoing.begin_pass();
        side.outgoing.send(&mut side.outbox, 0, &|_, _| true, Duration::ZERO);
    }
    assert_eq!(side.send().concat(), [24, 25, 26, 27, 28, 29].map(|number| (0, number)));
}

#[test]
fn messages_are_cut_anew_for_smaller_packets_and_earlier_acks_of_their_parts_do_not_count() {
    let mut side = Side::with_packets(600, &[Channel::Ordered]);
    [450, 1_000, 20].into_iter().for_each(|bytes| side.add(0, bytes).unwrap());
    let first = side.send();
    assert!(first.len() > 2 && first[0] == [(0, 0)], "{first:?}");
    side.resolve(1, Delivery::Lost);
    side.fit(128);
    (2..first.len() as u64).for_each(|packet| side.resolve(packet, Delivery::Arrived));
    side.outgoing.arrived_late(range(1, 1));
    let again = side.send().concat();
    let count = |number| again.iter().filter(|sent| **sent == (0, number)).count();
    assert_eq!((count(0), count(1), count(2)), (450_usize.div_ceil(32), 1_000_usize.div_ceil(32), 0));
    let end = side.outbox.sequence().number();
    (first.len() as u64..end).for_each(|packet| side.resolve(packet, Delivery::Arrived));
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

#[test]
fn r20_of_many_messages_that_were_cut_anew_at_most_sixteen_are_unfinished() {
    for were_sent in [false, true] {
        let mut side = Side::new(&[Channel::Ordered, Channel::Unordered]);
        (0..60).for_each(|number| side.add(number % 2, 150).unwrap());
        side.add(0, 20).unwrap();
        let packets = if were_sent { side.send().len() as u64 } else { 0 };
        side.fit(128);
        (0..packets).for_each(|packet| side.resolve(packet, Delivery::Lost));
        let mut seen = std::collections::BTreeSet::new();
        while side.outgoing.held_bytes() > 0 {
            let (first, sent) = (side.outbox.sequence().number(), side.send().concat());
            let messages: std::collections::BTreeSet<_> = sent.iter().copied().collect();
            let large = messages.iter().filter(|sent| **sent != (0, 30)).count();
            assert!((1..=MAX_UNFINISHED).contains(&large), "{large} are under way");
            seen.extend(messages);
            let end = side.outbox.sequence().number();
            (first..end).for_each(|packet| side.resolve(packet, Delivery::Arrived));
        }
        assert_eq!(seen.len(), 61);
    }
}

#[test]
fn the_oldest_message_does_not_wait_for_later_ones_that_have_arrived() {
    let mut side = Side::with_packets(600, &[Channel::Ordered]);
    side.add(0, 300).unwrap();
    (0..MAX_UNFINISHED + 1).for_each(|_| side.add(0, 500).unwrap());
    side.fit(400);
    side.fit(200);
    for _ in 0..10 {
        let first = side.outbox.sequence().number();
        side.send();
        let end = side.outbox.sequence().number();
        (first..end).for_each(|packet| side.resolve(packet, Delivery::Arrived));
    }
    assert_eq!(side.outgoing.held_bytes(), 0);
}

#[test]
fn large_unreliable_messages_are_sent_once_and_sequenced_ones_in_copies() {
    for (channel, copies) in [(Channel::Unreliable, 1), (Channel::Sequenced { copies: 3 }, 3)] {
        let mut side = Side::new(&[channel]);
        side.add(0, 1_000).unwrap();
        let parts = side.send().concat().len();
        side.resolve(0, Delivery::Lost);
        (1..copies).for_each(|_| assert_eq!(side.send().concat().len(), parts));
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }
}

#[test]
fn w14_each_reliable_channel_leaves_as_much_to_the_others_as_it_takes() {
    let mut side = Side::new(&[Channel::Ordered, Channel::Unordered, Channel::Unreliable]);
    let mut large = |channel| (0..20).take_while(|_| side.add(channel, 1_000).is_ok()).count();
    assert_eq!((large(0), large(1), large(0), large(1)), (8, 4, 0, 0));
    side.add(0, 10).unwrap();
    (0..100).for_each(|_| side.add(2, 1_000).unwrap());
    let mut side = Side::new(&[Channel::Ordered, Channel::Unordered]);
    let mut small = |channel| (0..2_000).take_while(|_| side.add(channel, 136).is_ok()).count();
    assert_eq!((small(0), small(1)), (655, 328), "of 200 bytes with their state");
}

#[test]
fn unreliable_messages_that_find_no_room_are_dropped_the_oldest_first() {
    let mut side = Side::new(&[Channel::Unreliable]);
    (0..5_000).for_each(|_| side.add(0, 10).unwrap());
    assert_eq!(side.send()[0][0], (0, 5_000 - 1_024));
    (0..400).for_each(|_| side.add(0, 4_000).unwrap());
    assert!(side.outgoing.held_bytes() <= MAX_BYTES);
}

#[test]
fn a_message_above_its_limit_is_refused() {
    let mut side = Side::new(&[Channel::Ordered]);
    let error = side.add(0, 4_001).expect_err("the limit is 4,000");
    assert_eq!(error, SendError::TooLarge { bits: 32_008, max_bits: 32_000 });
    side.add(0, 4_000).unwrap();
}

fn add_for_viewers(side: &mut Side, channel: u16, bytes: usize) {
    let mut writer = BitWriter::new();
    (0..bytes).for_each(|_| writer.write_bits(0xff, 8));
    let max_bits = side.outbox.capacity();
    side.outgoing.add_for(Recipient::Viewer, channel, &mut writer, max_bits).unwrap();
}

#[test]
fn marks_take_the_places_of_withdrawn_messages_until_they_are_acknowledged() {
    let mut side = Side::new(&[Channel::Ordered, Channel::Unreliable]);
    for channel in 0..2 {
        side.add(channel, 10).unwrap();
        add_for_viewers(&mut side, channel, 150);
        add_for_viewers(&mut side, channel, 1_000);
        side.add(channel, 10).unwrap();
    }
    let sent = [vec![(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 3)]];
    assert_eq!(side.send_if(false), sent, "all in one packet, and no mark for the unreliable ones");
    side.resolve(0, Delivery::Lost);
    assert_eq!(side.send(), [[(0, 0), (0, 1), (0, 2), (0, 3)]], "a withdrawn message never comes back");
    side.resolve(1, Delivery::Arrived);
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

#[test]
fn r04_a_late_ack_of_a_withdrawn_message_in_one_piece_counts_for_its_mark() {
    let mut side = Side::new(&[Channel::Ordered]);
    add_for_viewers(&mut side, 0, 100);
    assert_eq!(side.send(), [[(0, 0)]]);
    side.resolve(0, Delivery::Lost);
    assert_eq!(side.send_if(false), [[(0, 0)]]);
    side.outgoing.arrived_late(range(0, 0));
    side.resolve(1, Delivery::Lost);
    assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
}

#[test]
fn r04_late_acks_of_parts_do_not_count_for_the_mark_of_a_withdrawn_message() {
    for lost in 0..2 {
        let mut side = Side::new(&[Channel::Ordered]);
        add_for_viewers(&mut side, 0, 1_000);
        let packets = side.send().len() as u64;
        assert!(packets > 3);
        side.resolve(1 - lost, Delivery::Arrived);
        side.resolve(lost, Delivery::Lost);
        assert_eq!(side.send_if(false), [[(0, 0)]]);
        // The acks and losses of the parts say nothing about the mark.
        side.outgoing.arrived_late(range(lost, lost));
        (2..packets).for_each(|packet| side.resolve(packet, Delivery::Arrived));
        side.resolve(packets, Delivery::Lost);
        assert_eq!(side.send(), [[(0, 0)]], "part {lost} was lost");
        side.resolve(packets + 1, Delivery::Arrived);
        assert_eq!((side.send(), side.outgoing.held_bytes()), (Vec::new(), 0));
    }
}

#[test]
fn r20_a_withdrawn_message_counts_until_its_mark_is_acknowledged() {
    // The other side counts the parts of these messages until their marks arrive.
    let mut side = Side::new(&[Channel::Ordered]);
    (0..8).for_each(|_| add_for_viewers(&mut side, 0, 1_000));
    assert_eq!(side.add(0, 1_000), Err(SendError::Full), "of large messages a channel takes at most half");
    let held = side.outgoing.held_bytes();
    let marks = side.send_if(false);
    assert_eq!((marks.len(), side.outgoing.held_bytes()), (1, held));
    assert_eq!(side.add(0, 1_000), Err(SendError::Full));
    side.resolve(0, Delivery::Arrived);
    assert_eq!(side.outgoing.held_bytes(), 0);
    side.add(0, 1_000).unwrap();
}
