//! Tests of received messages.

use super::*;
use crate::messages::channel::MessageOptions;

const NOW: Duration = Duration::ZERO;

fn config(channel: Channel) -> ChannelConfig {
    ChannelConfig { channel, options: MessageOptions::default() }
}

fn incoming(channel: Channel) -> Incoming {
    let mut incoming = Incoming::default();
    incoming.begin([config(channel)].into_iter());
    incoming
}

/// Takes a message that contains its own number. Returns the numbers that were delivered.
fn take(incoming: &mut Incoming, number: u64) -> Result<Vec<u64>, ReadError> {
    let content = number.to_le_bytes();
    let content = BitSlice::new(&content, 0, 64).expect("64 bits");
    let message = ReceivedMessage { channel: 0, number: number as u16, part: None, content };
    incoming.check(&[message], |_, _, _| Ok(()))?;
    let mut delivered = Vec::new();
    incoming.take(&message, NOW, |_, content, _| {
        delivered.push(content.reader().read_bits(64).expect("64 bits"))
    });
    Ok(delivered)
}

#[test]
fn ordered_messages_wait_for_earlier_ones() {
    let mut incoming = incoming(Channel::Ordered);
    let taken = [1, 2, 1, 4, 0, 0, 2, 3, 5].map(|number| take(&mut incoming, number));
    let expected = [vec![], vec![], vec![], vec![], vec![0, 1, 2], vec![], vec![], vec![3, 4], vec![5]];
    assert_eq!(taken, expected.map(Ok));
    assert_eq!(incoming.held_bytes(), 0);
}

#[test]
fn unordered_messages_are_delivered_once_at_once() {
    let mut incoming = incoming(Channel::Unordered);
    let taken = [1, 2, 1, 4, 0, 0, 2, 3, 5].map(|number| take(&mut incoming, number));
    let expected = [vec![1], vec![2], vec![], vec![4], vec![0], vec![], vec![], vec![3], vec![5]];
    assert_eq!(taken, expected.map(Ok));
}

#[test]
fn of_sequenced_messages_only_newer_ones_are_delivered() {
    let mut incoming = incoming(Channel::Sequenced { copies: 1 });
    let taken = [1, 2, 1, 4, 0, 3, 30_000, 50_000].map(|number| take(&mut incoming, number));
    let expected = [vec![1], vec![2], vec![], vec![4], vec![], vec![], vec![30_000], vec![50_000]];
    assert_eq!(taken, expected.map(Ok));
}

#[test]
fn r20_numbers_that_no_honest_peer_sends_are_refused() {
    for channel in [Channel::Ordered, Channel::Unordered] {
        let mut incoming = incoming(channel);
        (0..70_000).for_each(|number| assert_eq!(take(&mut incoming, number), Ok(vec![number])));
        assert!(take(&mut incoming, 70_000 + 1_023).is_ok());
        assert_eq!(take(&mut incoming, 70_000 + 1_024), Err(ReadError::OutOfRange));
        assert_eq!(take(&mut incoming, 69_999), Ok(vec![]), "an old one may be repeated");
    }
}

#[test]
fn r20_parts_of_unreliable_messages_never_make_an_honest_peer_exceed_the_limit() {
    let mut incoming = Incoming::default();
    incoming.begin([config(Channel::Unreliable), config(Channel::Ordered)].into_iter());
    let bytes = vec![0; 20_000];
    let content = BitSlice::new(&bytes, 0, 160_000).expect("160,000 bits");
    let cut = Cut { bit_len: 480_000, part_bits: 160_000 };
    let mut all = Vec::new();
    for number in 0..6 {
        let parts = (0..2).map(|part| Some((cut, part)));
        all.extend(parts.map(|part| ReceivedMessage { channel: 0, number, part, content }));
    }
    let small = content.slice(0..8_000).expect("8,000 bits");
    // The first ordered message is lost, and the others wait for it.
    all.extend((1..200).map(|number| ReceivedMessage { channel: 1, number, part: None, content: small }));
    for message in all {
        assert_eq!(incoming.check(&[message], |_, _, _| Ok(())), Ok(()), "{}", message.number);
        incoming.take(&message, NOW, |_, _, _| {});
    }
    assert!(incoming.held_bytes() > 200_000 && incoming.held_bytes() <= MAX_BYTES);
}

#[test]
fn r20_what_waits_for_earlier_messages_is_bounded() {
    let mut incoming = Incoming::default();
    incoming.begin([config(Channel::Ordered); 400].into_iter());
    let bytes = [0; 1_000];
    let content = BitSlice::new(&bytes, 0, 8_000).expect("8,000 bits");
    let mut messages = (0..400).flat_map(|channel| (1..9).map(move |number| (channel, number)));
    let refused = messages.find(|&(channel, number)| {
        let message = ReceivedMessage { channel, number, part: None, content };
        let is_refused = incoming.check(&[message], |_, _, _| Ok(())).is_err();
        incoming.take(&message, NOW, |_, _, _| panic!("the first message of the channel is missing"));
        is_refused
    });
    assert!(refused.is_some());
    assert!(incoming.held_bytes() < MAX_BYTES + 4_000, "{}", incoming.held_bytes());
}

#[test]
fn r20_a_channel_that_does_not_exist_is_refused() {
    let message = ReceivedMessage { channel: 1, number: 0, part: None, content: BitSlice::default() };
    assert_eq!(incoming(Channel::Ordered).check(&[message], |_, _, _| Ok(())), Err(ReadError::OutOfRange));
}

/// Takes the part `index` of a message of 1,000 bytes that all contain the message's number. Returns what
/// is delivered.
fn take_part(
    incoming: &mut Incoming,
    number: u64,
    index: usize,
    now: Duration,
) -> Result<Vec<(u64, usize)>, ReadError> {
    let (cut, bytes) = (Cut { bit_len: 8_000, part_bits: 3_000 }, [number as u8; 1_000]);
    let content = cut.part(index, &bytes);
    let message = ReceivedMessage { channel: 0, number: number as u16, part: Some((cut, index)), content };
    incoming.check(&[message], |_, _, _| Ok(()))?;
    let mut delivered = Vec::new();
    incoming.take(&message, now, |_, content, _| {
        delivered.push((content.reader().read_bits(8).expect("a byte"), content.len()));
    });
    Ok(delivered)
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn parts_in_any_order_are_one_message_on_each_kind_of_channel() {
    let channels =
        [Channel::Ordered, Channel::Unordered, Channel::Sequenced { copies: 1 }, Channel::Unreliable];
    for channel in channels {
        let mut incoming = incoming(channel);
        let parts = [(0, 2), (1, 0), (0, 0), (1, 2), (0, 2), (0, 1), (1, 1)];
        let taken = parts.map(|(number, index)| take_part(&mut incoming, number, index, NOW));
        let mut expected = [const { Ok(Vec::new()) }; 7];
        (expected[5], expected[6]) = (Ok(vec![(0, 8_000)]), Ok(vec![(1, 8_000)]));
        assert_eq!(taken, expected, "{channel:?}");
        assert_eq!(incoming.held_bytes(), 0);
        if channel != Channel::Unreliable {
            assert_eq!(take_part(&mut incoming, 0, 1, NOW), Ok(Vec::new()), "it was delivered");
            assert_eq!(incoming.held_bytes(), 0);
        }
    }
}

/// Takes the mark (the empty replacement) of a message that was withdrawn. Returns whether anything is
/// delivered.
fn take_mark(incoming: &mut Incoming, number: u64) -> bool {
    let content = BitSlice::default();
    let mark = ReceivedMessage { channel: 0, number: number as u16, part: None, content };
    incoming.check(&[mark], |_, _, _| Ok(())).unwrap();
    let mut is_delivered = false;
    incoming.take(&mark, NOW, |_, _, _| is_delivered = true);
    is_delivered
}

#[test]
fn a_mark_ends_the_wait_for_the_other_parts_of_its_message() {
    let mut incoming = incoming(Channel::Ordered);
    for number in [0, 1] {
        (0..2).for_each(|index| _ = take_part(&mut incoming, number, index, NOW).unwrap());
    }
    assert_eq!(take(&mut incoming, 2), Ok(vec![]));
    let held = incoming.held_bytes();
    assert!(!take_mark(&mut incoming, 1), "message 0 is missing");
    assert!(incoming.held_bytes() < held - 500, "{held} bytes before");
    assert_eq!(take_part(&mut incoming, 1, 2, NOW), Ok(Vec::new()), "the last part comes too late");
    assert!(take_mark(&mut incoming, 0));
    assert_eq!((incoming.held_bytes(), take(&mut incoming, 3)), (0, Ok(vec![3])));
    (0..3).for_each(|index| assert_eq!(take_part(&mut incoming, 0, index, NOW), Ok(Vec::new())));
    assert_eq!(incoming.held_bytes(), 0);
}

#[test]
fn of_a_message_and_its_mark_the_first_that_arrives_counts() {
    let mut incoming = incoming(Channel::Ordered);
    assert_eq!(take(&mut incoming, 0), Ok(vec![0]));
    assert!(!take_mark(&mut incoming, 0));
    assert!(take_mark(&mut incoming, 1));
    assert_eq!(take(&mut incoming, 1), Ok(vec![]));
    // The mark arrives while an earlier message is missing.
    assert_eq!(take(&mut incoming, 3), Ok(vec![]));
    assert!(!take_mark(&mut incoming, 3));
    assert_eq!(take(&mut incoming, 2), Ok(vec![2, 3]));
    assert_eq!(take(&mut incoming, 4), Ok(vec![4]));
}

#[test]
fn r20_marks_make_room_for_the_parts_of_other_messages() {
    let mut incoming = incoming(Channel::Ordered);
    for round in 0..100 {
        let numbers = round * 16..(round + 1) * 16;
        numbers.clone().for_each(|number| _ = take_part(&mut incoming, number, 0, NOW).unwrap());
        assert!(take_part(&mut incoming, numbers.end, 0, NOW).is_err());
        numbers.for_each(|number| assert!(take_mark(&mut incoming, number)));
        assert_eq!(incoming.held_bytes(), 0);
    }
}

#[test]
fn only_a_newer_sequenced_message_ends_the_wait_for_an_older_one() {
    for channel in [Channel::Sequenced { copies: 1 }, Channel::Unreliable] {
        let mut incoming = incoming(channel);
        take_part(&mut incoming, 0, 0, NOW).unwrap();
        assert!(incoming.held_bytes() > 0);
        assert_eq!(take(&mut incoming, 1), Ok(vec![1]));
        assert_eq!(incoming.held_bytes() > 0, channel == Channel::Unreliable, "{channel:?}");
    }
}

#[test]
fn unreliable_messages_without_their_parts_are_dropped_after_five_seconds() {
    for channel in [Channel::Sequenced { copies: 1 }, Channel::Unreliable] {
        let mut incoming = incoming(channel);
        take_part(&mut incoming, 0, 0, NOW).unwrap();
        take_part(&mut incoming, 0, 1, SECOND).unwrap();
        assert_eq!(incoming.expire(None, SECOND * 5), None);
        assert!(incoming.held_bytes() > 0);
        assert_eq!(incoming.expire(Some(SECOND * 6), SECOND * 6), None);
        assert_eq!(incoming.held_bytes(), 0);
    }
}

#[test]
fn r20_a_reliable_message_that_makes_no_progress_is_reported() {
    for channel in [Channel::Ordered, Channel::Unordered] {
        let mut incoming = incoming(channel);
        assert_eq!(incoming.expire(Some(SECOND), SECOND), None);
        take_part(&mut incoming, 0, 0, SECOND).unwrap();
        take_part(&mut incoming, 0, 1, SECOND * 3).unwrap();
        assert_eq!(incoming.expire(Some(SECOND * 2), SECOND * 4), None);
        assert_eq!(incoming.expire(Some(SECOND * 3), SECOND * 4), Some(0));
        take_part(&mut incoming, 0, 2, SECOND * 5).unwrap();
        assert_eq!(incoming.expire(Some(SECOND * 5), SECOND * 6), None);
        // A whole message waits for an earlier message that never comes.
        assert_eq!(incoming.expire(Some(SECOND * 6), SECOND * 6), None);
        take(&mut incoming, 2).unwrap();
        assert_eq!(incoming.expire(Some(SECOND * 5), SECOND * 7), None);
        assert_eq!(incoming.expire(Some(SECOND * 6), SECOND * 7), Some(0));
    }
}

#[test]
fn r20_a_message_that_overtakes_the_first_one_waits_from_its_arrival_on() {
    for channel in [Channel::Ordered, Channel::Unordered] {
        let mut incoming = incoming(channel);
        let content = [0; 8];
        let content = BitSlice::new(&content, 0, 64).expect("64 bits");
        let message = ReceivedMessage { channel: 0, number: 1, part: None, content };
        incoming.take(&message, SECOND * 100, |_, _, _| {});
        assert_eq!(incoming.expire(Some(SECOND * 99), SECOND * 129), None);
        assert_eq!(incoming.expire(Some(SECOND * 100), SECOND * 130), Some(0));
    }
}

#[test]
fn r20_unfinished_messages_are_at_most_sixteen() {
    for channel in [Channel::Ordered, Channel::Unordered] {
        let mut incoming = incoming(channel);
        (0..16).for_each(|number| _ = take_part(&mut incoming, number, 0, NOW).unwrap());
        assert!(take_part(&mut incoming, 16, 0, NOW).is_err());
        assert!(take_part(&mut incoming, 15, 1, NOW).is_ok());
    }
    // The oldest unreliable messages are dropped to make room.
    let mut incoming = incoming(Channel::Unreliable);
    (0..40).for_each(|number| _ = take_part(&mut incoming, number, 0, SECOND * number as u32).unwrap());
    assert!(incoming.held_bytes() <= 16 * (375 + 64), "{}", incoming.held_bytes());
    take_part(&mut incoming, 39, 1, SECOND * 40).unwrap();
    assert_eq!(take_part(&mut incoming, 39, 2, SECOND * 40), Ok(vec![(39, 8_000)]));
}

/// Takes the part `index` of a message with `bit_len` bits. Returns the number of delivered bits, and whether
/// the message was read before.
fn take_bulk(
    incoming: &mut Incoming,
    number: u64,
    bit_len: usize,
    index: usize,
) -> Result<Vec<(usize, bool)>, ReadError> {
    let (cut, bytes) = (Cut { bit_len, part_bits: 240_000 }, vec![number as u8; bit_len / 8]);
    let content = cut.part(index, &bytes);
    let message = ReceivedMessage { channel: 0, number: number as u16, part: Some((cut, index)), content };
    let mut read = Vec::new();
    incoming.check(&[message], |at, _, content| {
        read.push((at, content.len()));
        Ok(())
    })?;
    let mut delivered = Vec::new();
    incoming.take(&message, NOW, |_, content, was_read| {
        assert!(!was_read || read == [(Some(0), content.len())]);
        delivered.push((content.len(), was_read));
    });
    Ok(delivered)
}

/// Takes parts of a message that are in one packet. Returns the delivered bytes.
fn take_packet(
    incoming: &mut Incoming,
    content: &[u8],
    parts: &[(Cut, usize)],
) -> Result<Vec<Vec<u8>>, ReadError> {
    let messages: Vec<_> = parts
        .iter()
        .map(|&(cut, index)| ReceivedMessage {
            channel: 0,
            number: 0,
            part: Some((cut, index)),
            content: cut.part(index, content),
        })
        .collect();
    let mut read = Vec::new();
    incoming.check(&messages, |at, _, whole| {
        read.push((at, Whole::copied(whole).bytes));
        Ok(())
    })?;
    let mut delivered = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        incoming.take(message, NOW, |_, whole, was_read| {
            let bytes = Whole::copied(whole).bytes;
            assert_eq!(read, [(was_read.then_some(at), bytes.clone())], "it was checked before");
            delivered.push(bytes);
        });
    }
    Ok(delivered)
}

/// Returns the receiving side of a channel with messages of up to 100,000 bytes.
fn bulky(channel: Channel) -> Incoming {
    let options = MessageOptions { max_bytes: 100_000, ..MessageOptions::default() };
    let mut incoming = Incoming::default();
    incoming.begin([ChannelConfig { channel, options }].into_iter());
    incoming
}

#[test]
fn r20_bulk_messages_that_wait_claim_no_more_than_their_type_allows() {
    for channel in [Channel::Ordered, Channel::Unordered] {
        let mut incoming = bulky(channel);
        for index in [0, 2, 2] {
            assert_eq!(take_bulk(&mut incoming, 1, 640_000, index), Ok(vec![]));
        }
        assert!(take_bulk(&mut incoming, 2, 640_000, 0).is_err(), "two of them are too large");
        assert!(take_bulk(&mut incoming, 2, 800_008, 0).is_err(), "it is too large");
        assert_eq!((incoming.held_bytes(), incoming.is_at_rest()), (0, false), "bulk does not count");
        let is_ordered = channel == Channel::Ordered;
        let expected = if is_ordered { vec![] } else { vec![(640_000, true)] };
        assert_eq!(take_bulk(&mut incoming, 1, 640_000, 1), Ok(expected));
        assert_eq!(take_bulk(&mut incoming, 2, 640_000, 0).is_err(), is_ordered, "the first one still waits");
        if is_ordered {
            assert_eq!(take(&mut incoming, 0).map(|delivered| delivered.len()), Ok(2));
            assert_eq!(take_bulk(&mut incoming, 2, 640_000, 0), Ok(vec![]));
        }
    }
}

#[test]
fn a_bulk_message_whose_last_packet_was_only_checked_is_delivered_when_it_comes_again() {
    let mut incoming = bulky(Channel::Ordered);
    take_bulk(&mut incoming, 0, 640_000, 0).unwrap();
    take_bulk(&mut incoming, 0, 640_000, 1).unwrap();
    let (cut, bytes) = (Cut { bit_len: 640_000, part_bits: 240_000 }, [0; 80_000]);
    let content = cut.part(2, &bytes);
    let last = ReceivedMessage { channel: 0, number: 0, part: Some((cut, 2)), content };
    incoming.check(&[last], |_, _, _| Ok(())).unwrap();
    assert_eq!(take_bulk(&mut incoming, 0, 640_000, 2), Ok(vec![(640_000, true)]));
    assert!(incoming.is_at_rest());
}

#[test]
fn a_message_that_was_cut_anew_is_put_together_from_its_new_parts_alone() {
    for channel in [Channel::Ordered, Channel::Unordered, Channel::Unreliable] {
        let mut incoming = incoming(channel);
        let content: Vec<u8> = (0..1_000_u32).map(|at| at as u8).collect();
        let (old, new) = (Cut { bit_len: 8_000, part_bits: 3_000 }, Cut { bit_len: 8_000, part_bits: 900 });
        let mut take = |cut: Cut, index| {
            let content = cut.part(index, &content);
            let message = ReceivedMessage { channel: 0, number: 0, part: Some((cut, index)), content };
            incoming.check(&[message], |_, _, _| Ok(())).expect("an honest part");
            let mut delivered = Vec::new();
            incoming.take(&message, NOW, |_, whole, _| {
                delivered.push(Whole::copied(whole).bytes);
            });
            delivered
        };
        // Parts of the old cut arrive before and between the new ones.
        let order = [(old, 0), (old, 1), (new, 8), (old, 2), (new, 7), (new, 6), (old, 0), (new, 5)];
        order.into_iter().for_each(|(cut, index)| assert!(take(cut, index).is_empty()));
        (1..5).for_each(|index| assert!(take(new, index).is_empty()));
        assert_eq!(take(new, 0), std::slice::from_ref(&content));
        assert_eq!(incoming.held_bytes(), 0);
    }
}

#[test]
fn a_bulk_message_that_was_cut_anew_is_put_together_from_its_new_parts_alone() {
    for channel in [Channel::Ordered, Channel::Unordered] {
        let mut incoming = bulky(channel);
        let content: Vec<u8> = (0..80_000_usize).map(|at| (at * at / 9) as u8).collect();
        let [old, new, newest] =
            [240_000, 100_000, 4_000].map(|part_bits| Cut { bit_len: 640_000, part_bits });
        let mut take = |parts: &[(Cut, usize)]| take_packet(&mut incoming, &content, parts).unwrap();
        for parts in [&[(old, 0), (old, 2)][..], &[(new, 6)], &[(old, 1)], &[(new, 5), (new, 4)]] {
            assert!(take(parts).is_empty());
        }
        (0..4).for_each(|index| _ = take(&[(newest, index + 100)]));
        (0..7).for_each(|index| assert!(take(&[(new, index)]).is_empty(), "they are too late"));
        (0..158).for_each(|index| assert!(take(&[(newest, index)]).is_empty()));
        let last = [(new, 1), (newest, 158), (old, 0), (newest, 159)];
        assert_eq!(take(&last), std::slice::from_ref(&content));
        assert!(take(&[(newest, 3)]).is_empty() && take(&[(old, 3)]).is_empty());
        assert!(incoming.is_at_rest());
    }
}

#[test]
fn r20_a_message_that_is_cut_anew_again_and_again_counts_once() {
    let mut incoming = bulky(Channel::Ordered);
    let content = vec![7; 80_000];
    let cut = |part_bits| Cut { bit_len: 640_000, part_bits };
    for part_bits in (32..250).rev().map(|bytes| bytes * 8) {
        assert_eq!(take_packet(&mut incoming, &content, &[(cut(part_bits), 1)]), Ok(vec![]));
        assert_eq!(incoming.assembly.claimed_bulk_bytes(0), 80_000);
        assert_eq!(incoming.progress(0).map(|progress| progress.done_bytes), Some(part_bits / 8));
        assert!(take_bulk(&mut incoming, 1, 640_000, 0).is_err(), "there is no room for another one");
    }
    let mut incoming = Incoming::default();
    incoming.begin([config(Channel::Unreliable)].into_iter());
    let cut = |part_bits| Cut { bit_len: 400_000, part_bits };
    for part_bits in (256..2_000).rev() {
        assert_eq!(take_packet(&mut incoming, &content, &[(cut(part_bits), 1)]), Ok(vec![]));
        assert_eq!(incoming.held_bytes(), held_bytes(part_bits / 8));
    }
}

#[test]
fn r20_a_packet_with_parts_of_two_sizes_of_a_message_is_refused() {
    let content = vec![7; 80_000];
    let [old, new] = [2_000, 1_000].map(|part_bits| Cut { bit_len: 640_000, part_bits });
    for parts in [[(old, 0), (new, 0)], [(new, 0), (old, 0)]] {
        let mut incoming = bulky(Channel::Ordered);
        assert_eq!(take_packet(&mut incoming, &content, &parts), Err(ReadError::OutOfRange));
        assert_eq!(take_packet(&mut incoming, &content, &[(old, 3)]), Ok(vec![]));
        assert_eq!(take_packet(&mut incoming, &content, &parts), Err(ReadError::OutOfRange));
    }
}

#[test]
fn r20_parts_that_contradict_each_other_or_exceed_the_limit_are_refused() {
    let mut incoming = incoming(Channel::Ordered);
    take_part(&mut incoming, 0, 0, NOW).unwrap();
    let bytes = [0; 100];
    let content = BitSlice::new(&bytes, 0, 800).expect("800 bits");
    let part = |number, cut| ReceivedMessage { channel: 0, number, part: Some((cut, 0)), content };
    let other = Cut { bit_len: 8_001, part_bits: 800 };
    assert_eq!(incoming.check(&[part(0, other)], |_, _, _| Ok(())), Err(ReadError::OutOfRange));
    let too_large = Cut { bit_len: (64 << 10) * 8 + 1, part_bits: 800 };
    assert!(incoming.check(&[part(1, too_large)], |_, _, _| Ok(())).is_err());
    assert!(
        incoming.check(&[part(1, Cut { bit_len: (64 << 10) * 8, part_bits: 800 })], |_, _, _| Ok(())).is_ok()
    );
}
