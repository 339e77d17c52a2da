//! A dishonest client that sends messages: parts that claim large messages, parts that never become a
//! message, and parts that contradict each other.
//!
//! *Invariant:* every packet here has a correct checksum and a number of its own.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitWriter, Channel, DisconnectReason, MessageOptions};

use super::allocator::measure;
use super::forge;
use super::recording::SESSION;
use super::support::collect;

const TICK: Duration = Duration::from_millis(16);
/// The numbers of the channels: texts in order, and texts without an order.
const ORDERED: u64 = 0;
const UNORDERED: u64 = 1;

#[derive(NetSerialize, Clone)]
struct Ordered(#[replicated(max_len = 65536)] String);

#[derive(NetSerialize, Clone)]
struct Unordered(#[replicated(max_len = 65536)] String);

/// A server and a connection. The packets of the client are made by hand.
struct Forger {
    server: Server,
    id: ConnectionId,
    key: u64,
    sequence: u16,
    now: Duration,
}

impl Forger {
    fn new() -> Self {
        Self::with(MessageOptions::DEFAULT)
    }

    /// Returns a forger of messages with these limits.
    fn with(options: MessageOptions) -> Self {
        let mut server = Server::new(ServerConfig::default());
        server
            .register_message_with::<Ordered>(Channel::Ordered, options)
            .register_message_with::<Unordered>(Channel::Unordered, options);
        let id = server.connect(Duration::ZERO);
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
        client
            .register_message_with::<Ordered>(Channel::Ordered, options)
            .register_message_with::<Unordered>(Channel::Unordered, options);
        client.tick(Duration::ZERO);
        let hello = client.poll_transmit().expect("a hello").to_vec();
        server.receive(id, Duration::ZERO, &hello);
        let welcome = collect(&mut server, id).swap_remove(0);
        let key = SESSION ^ forge::token(&welcome);
        let mut forger = Self { server, id, key, sequence: 0, now: Duration::ZERO };
        forger.send(|_| {});
        forger
    }

    /// Sends a packet with the messages that `write` writes. Then the server ticks.
    fn send(&mut self, write: impl FnOnce(&mut BitWriter)) {
        self.burst(write);
        self.server.tick(self.now);
        collect(&mut self.server, self.id);
        self.now += TICK;
    }

    /// Sends a packet with the messages that `write` writes.
    fn burst(&mut self, write: impl FnOnce(&mut BitWriter)) {
        let mut writer = BitWriter::new();
        writer.write_flag(false);
        writer.write_bits(self.sequence.into(), 16);
        self.sequence += 1;
        // The packet is the first of its tick, does not tell its oldest packet without an ack (the floor),
        // and has neither acks nor state.
        writer.write_bits(0, 4);
        write(&mut writer);
        let packet = forge::seal(&writer.into_bytes(), self.key);
        self.server.receive(self.id, self.now, &packet);
    }

    /// Sends the part with this index of a message of `length` bits, which is cut into parts of `part` bits.
    fn part(&mut self, channel: u64, number: u64, [length, part]: [u64; 2], index: u64) {
        self.send(|writer| {
            writer.write_flag(false);
            writer.write_below(channel, 2);
            writer.write_bits(number, 16);
            writer.write_exp_golomb(length, 12);
            writer.write_exp_golomb(part, 12);
            writer.write_exp_golomb(index, 3);
            (0..part.min(length - index * part)).for_each(|_| writer.write_flag(true));
        });
    }

    fn closed(&mut self) -> Option<DisconnectReason> {
        let events = std::iter::from_fn(|| self.server.poll_event());
        let mut reasons = events.filter_map(|event| match event {
            ServerEvent::Disconnected(_, reason) => Some(reason),
            _ => None,
        });
        reasons.next()
    }
}

const LARGEST: u64 = 65_536 * 8;

#[test]
fn r20_a_message_that_is_never_finished_ends_the_connection() {
    for channel in [ORDERED, UNORDERED] {
        let mut forger = Forger::new();
        forger.part(channel, 0, [3_000, 1_000], 0);
        forger.part(channel, 0, [3_000, 1_000], 2);
        // The client still sends packets, but the other part of its message never arrives.
        let begun = forger.now;
        while forger.now < begun + Duration::from_secs(29) {
            forger.send(|_| {});
        }
        assert_eq!(forger.closed(), None);
        while forger.now < begun + Duration::from_secs(31) {
            forger.send(|_| {});
        }
        assert_eq!(forger.closed(), Some(DisconnectReason::Stalled), "channel {channel}");
    }
}

#[test]
fn r20_messages_that_wait_for_one_that_never_comes_end_the_connection() {
    let mut forger = Forger::new();
    let begun = forger.now;
    let mut text = BitWriter::new();
    Ordered(String::new()).write(&mut text).expect("an empty text");
    while forger.now < begun + Duration::from_secs(31) {
        forger.send(|writer| {
            writer.write_flag(true);
            writer.write_below(ORDERED, 2);
            writer.write_bits(1, 16);
            writer.write_exp_golomb(text.bit_len() as u64, 6);
            writer.append(text.as_slice());
        });
    }
    assert_eq!(forger.closed(), Some(DisconnectReason::Stalled));
}

#[test]
fn r20_a_part_takes_memory_for_what_arrived_and_not_for_what_it_claims() {
    let mut forger = Forger::new();
    forger.part(ORDERED, 0, [LARGEST, 256], 0);
    for number in 1..16 {
        let ((), most) = measure(|| forger.part(UNORDERED, number, [LARGEST, 256], 2_047));
        assert!(most < 4_096, "{most} bytes for a part of 32 bytes");
    }
    assert_eq!(forger.closed(), None);
    let memory = forger.server.connection_info(forger.id).stats().map(|stats| stats.memory_bytes);
    assert!(memory < Some(8_192), "{memory:?}");
}

#[test]
fn r20_unfinished_messages_and_their_bytes_are_limited() {
    let mut forger = Forger::new();
    (0..16).for_each(|number| forger.part(number % 2, number, [LARGEST, 256], 1));
    assert_eq!(forger.closed(), None);
    forger.part(ORDERED, 20, [LARGEST, 256], 1);
    assert!(matches!(forger.closed(), Some(DisconnectReason::Protocol(_))));
    let mut forger = Forger::new();
    let reason = (0..64 * 8).find_map(|at| {
        forger.part(UNORDERED, 1 + at / 60, [LARGEST, 8_192], 1 + at % 60);
        let memory = forger.server.connection_info(forger.id).stats().map_or(0, |stats| stats.memory_bytes);
        assert!(memory < (256 << 10) + 16_384, "{memory}");
        forger.closed()
    });
    assert!(matches!(reason, Some(DisconnectReason::Protocol(_))), "{reason:?}");
}

/// Types whose messages may have up to 1 MiB.
const BULK: MessageOptions = MessageOptions { max_bytes: 1 << 20, ..MessageOptions::DEFAULT };
const BULK_BITS: u64 = 8 << 20;

#[test]
fn r20_what_bulk_messages_claim_is_limited_by_their_type_and_allocates_nothing() {
    for channel in [ORDERED, UNORDERED] {
        let mut forger = Forger::with(BULK);
        let ((), most) = measure(|| forger.part(channel, 0, [BULK_BITS, 256], 32_767));
        assert!(most < 8_192, "{most} bytes for a part of 32 bytes");
        assert_eq!(forger.closed(), None);
        // A message that is not bulk does not count, but every further bulk message does.
        forger.part(channel, 1, [LARGEST, 256], 5);
        assert_eq!(forger.closed(), None);
        forger.part(channel, 2, [LARGEST + 8, 256], 5);
        assert!(matches!(forger.closed(), Some(DisconnectReason::Protocol(_))), "channel {channel}");
        let mut forger = Forger::with(BULK);
        forger.part(channel, 0, [BULK_BITS + 8, 256], 0);
        assert!(matches!(forger.closed(), Some(DisconnectReason::Protocol(_))), "channel {channel}");
        let mut forger = Forger::with(BULK);
        forger.part(channel, 0, [BULK_BITS / 2, 256], 0);
        forger.part(channel, 1, [BULK_BITS / 2, 256], 0);
        assert_eq!(forger.closed(), None);
        forger.part(1 - channel, 0, [BULK_BITS, 256], 0);
        assert_eq!(forger.closed(), None, "each type has its own limit");
    }
}

#[test]
fn r20_parts_of_a_bulk_message_in_any_order_take_memory_for_what_arrived() {
    let mut forger = Forger::with(BULK);
    let count = BULK_BITS / 256;
    let ((), most) = measure(|| {
        for at in 0..count - 1 {
            // All parts except the first are sent twice, from the last part on, in steps that leave gaps.
            let index = count - 1 - at * 5 % (count - 1);
            forger.part(UNORDERED, 0, [BULK_BITS, 256], index);
            if at % 16 == 0 {
                forger.part(UNORDERED, 0, [BULK_BITS, 256], index);
            }
        }
    });
    assert_eq!(forger.closed(), None);
    assert!(most < (1 << 20) * 3 / 2 + 65_536, "{most} bytes for 1 MiB");
    forger.part(UNORDERED, 0, [BULK_BITS, 256], 0);
    assert!(matches!(forger.closed(), Some(DisconnectReason::Protocol(_))), "it is no text");
    assert!(forger.server.poll_message::<Unordered>().is_none());
}

#[test]
fn r20_a_bulk_message_that_is_never_finished_ends_the_connection() {
    let mut forger = Forger::with(BULK);
    let begun = forger.now;
    forger.part(ORDERED, 0, [BULK_BITS, 256], 9);
    while forger.now < begun + Duration::from_secs(31) {
        // Repeated parts are no progress.
        forger.part(ORDERED, 0, [BULK_BITS, 256], 9);
    }
    assert_eq!(forger.closed(), Some(DisconnectReason::Stalled));
    let refused: [fn(&mut Forger); 2] = [
        |forger| forger.part(ORDERED, 0, [BULK_BITS - 8, 256], 1),
        |forger| forger.part(ORDERED, 0, [LARGEST, 256], 1),
    ];
    for (at, change) in refused.into_iter().enumerate() {
        let mut forger = Forger::with(BULK);
        forger.part(ORDERED, 0, [BULK_BITS, 256], 0);
        change(&mut forger);
        assert!(matches!(forger.closed(), Some(DisconnectReason::Protocol(_))), "{at}");
    }
}

#[test]
fn r20_parts_that_cannot_belong_to_a_message_are_refused() {
    let part = |change: fn(&mut Forger)| {
        let mut forger = Forger::new();
        forger.part(ORDERED, 0, [3_000, 1_000], 0);
        assert_eq!(forger.closed(), None);
        change(&mut forger);
        forger.closed()
    };
    assert_eq!(part(|forger| forger.part(ORDERED, 0, [3_000, 1_000], 0)), None, "a part that comes again");
    let ignored: fn(&mut Forger) = |forger| {
        // These parts are larger, so they belong to an earlier cut of the message, and do not complete it.
        forger.part(ORDERED, 0, [3_000, 1_500], 1);
        forger.part(ORDERED, 0, [3_000, 2_000], 1);
        assert!(forger.server.poll_message::<Ordered>().is_none());
    };
    assert_eq!(part(ignored), None, "parts of an earlier cut");
    let refused: [fn(&mut Forger); 4] = [
        |forger| forger.part(ORDERED, 0, [3_001, 1_000], 1),
        |forger| forger.part(ORDERED, 1, [LARGEST + 8, 1_000], 1),
        |forger| forger.part(ORDERED, 1_024, [3_000, 1_000], 1),
        |forger| {
            // The last part arrives, and the completed content is not a valid text.
            forger.part(ORDERED, 0, [3_000, 1_000], 1);
            forger.part(ORDERED, 0, [3_000, 1_000], 2);
        },
    ];
    for (at, change) in refused.into_iter().enumerate() {
        assert!(matches!(part(change), Some(DisconnectReason::Protocol(_))), "{at}");
    }
}

#[test]
fn r20_a_packet_that_completes_an_unreadable_message_brings_no_other_message() {
    let mut forger = Forger::new();
    forger.part(UNORDERED, 0, [1_500, 1_000], 0);
    assert_eq!(forger.closed(), None);
    let mut text = BitWriter::new();
    Ordered("first".to_owned()).write(&mut text).expect("a short text");
    forger.send(|writer| {
        writer.write_flag(true);
        writer.write_below(ORDERED, 2);
        writer.write_bits(0, 16);
        writer.write_exp_golomb(text.bit_len() as u64, 6);
        writer.append(text.as_slice());
        // This is the last part of the other message, which is not a valid text.
        writer.write_flag(false);
        writer.write_flag(false);
        writer.write_below(UNORDERED, 2);
        writer.write_bits(0, 16);
        writer.write_exp_golomb(1_500, 12);
        writer.write_exp_golomb(1_000, 12);
        writer.write_exp_golomb(1, 3);
        (0..500).for_each(|_| writer.write_flag(true));
    });
    assert_eq!(forger.closed(), Some(DisconnectReason::Protocol("a string is not UTF-8".to_owned())));
    assert!(forger.server.poll_message::<Ordered>().is_none());
}

#[test]
fn r20_parts_of_a_packet_that_cut_their_message_differently_are_refused() {
    let mut forger = Forger::new();
    forger.send(|writer| {
        for (at, (part, index)) in [(1_000, 0), (1_500, 1)].into_iter().enumerate() {
            writer.write_flag(false);
            if at > 0 {
                writer.write_flag(false);
            }
            writer.write_below(UNORDERED, 2);
            writer.write_bits(0, 16);
            writer.write_exp_golomb(3_000, 12);
            writer.write_exp_golomb(part, 12);
            writer.write_exp_golomb(index, 3);
            (0..part).for_each(|_| writer.write_flag(true));
        }
    });
    assert!(matches!(forger.closed(), Some(DisconnectReason::Protocol(_))));
}

#[test]
fn r20_a_client_that_sends_too_many_messages_is_disconnected_within_a_second() {
    // The client sends a hundred times as many messages as it may send.
    let mut forger = Forger::new();
    let mut text = BitWriter::new();
    Unordered(String::new()).write(&mut text).expect("an empty text");
    let (begun, mut number) = (forger.now, 0_u64);
    let reason = loop {
        let count = 100_000 * 16 / 1_000;
        for _ in 0..count / 100 {
            forger.burst(|writer| {
                for at in 0..100 {
                    writer.write_flag(true);
                    if at > 0 {
                        writer.write_flag(true);
                    } else {
                        writer.write_below(UNORDERED, 2);
                        writer.write_bits(number & 0xffff, 16);
                    }
                    writer.write_exp_golomb(text.bit_len() as u64, 6);
                    writer.append(text.as_slice());
                    number += 1;
                }
            });
        }
        while forger.server.poll_message::<Unordered>().is_some() {}
        forger.now += TICK;
        if let Some(reason) = forger.closed() {
            break reason;
        }
    };
    assert_eq!(reason, DisconnectReason::TooFast("message Unordered".to_owned()));
    assert!(forger.now - begun < Duration::from_millis(200), "{:?}", forger.now - begun);
    assert!((12_000..14_000).contains(&number), "{number} messages: what an outage can have held back");
}

#[test]
fn r20_a_client_that_sends_too_many_packets_is_disconnected_within_a_second() {
    let mut forger = Forger::new();
    let (begun, mut count) = (forger.now, 0);
    let reason = loop {
        (0..3_200).for_each(|_| forger.burst(|_| {}));
        count += 3_200;
        forger.now += TICK;
        if let Some(reason) = forger.closed() {
            break reason;
        }
    };
    assert_eq!(reason, DisconnectReason::TooFast("packets".to_owned()));
    assert!(forger.now - begun < Duration::from_millis(200), "{:?}", forger.now - begun);
    assert!(count > 20_000, "{count} packets: what an outage can have held back");
}
