//! Compares the numbers on the page of the wire format with the constants of the code. A decoder is written
//! from the page, so a wrong number there is as bad as one in the code.
//!
//! *Invariant:* each number of three digits or more on the page is compared with a constant, or is named in
//! [`NO_CONSTANT`].

use std::fs;
use std::time::Duration;

use repl::prelude::*;

use crate::sources::root;

/// How the page writes the value of a constant.
#[derive(Clone, Copy, Debug)]
enum Written {
    /// A number, with commas between groups of three digits.
    Plain,
    /// The value of the constant minus one.
    LessOne,
    /// In hexadecimal digits.
    Hex,
    /// The four bytes of a number, the lowest first, as text.
    Tag,
    /// In units of 1,024 or 1,048,576 bytes.
    Bytes,
    /// A time, in seconds or in milliseconds.
    Time,
    /// The number as a word.
    Word,
    /// The ordinal word of the next number, for example *seventeenth* for 16.
    NextPlace,
}

use Written::{Bytes, Hex, LessOne, NextPlace, Plain, Tag, Time, Word};

/// The text of the page, with `{}` in place of the constant; the file of the constant, without `.rs`; the
/// name of the constant, with `.start` or `.end` if it is a range; and how the page writes the value.
type Row = (&'static str, &'static str, &'static str, Written);

const TRANSPORT: [Row; 26] = [
    ("The whole protocol has a tag (`{}`)", "repl-link/src/frame/packet", "PROTOCOL", Tag),
    ("continued from the value `{}`", "repl-link/src/frame/packet", "PROTOCOL", Hex),
    ("largest **packet** in bytes, {} to", "repl-link/src/frame/packet", "MTU_BYTES.start", Plain),
    ("in bytes, 128 to {};", "repl-link/src/frame/packet", "MTU_BYTES.end", Plain),
    ("zeros until the packet has {} bytes", "repl-link/src/frame/packet", "MTU_BYTES.start", Plain),
    ("only if it is below {} bytes and", "repl-link/src/frame/packet", "LEAST_PACKET_BYTES", Plain),
    ("the second is padded to at most {}, and", "repl-link/src/frame/packet", "LEAST_PACKET_BYTES", Plain),
    ("and the third to at most {}.", "repl-link/src/frame/packet", "MTU_BYTES.start", Plain),
    ("counted nine packets of {} bytes", "repl-link/src/frame/packet", "MTU_BYTES.start", Plain),
    ("its number is more than {} before or after", "repl-link/src/frame/sequence", "HALF_SPAN", LessOne),
    ("a packet more than {} before the newest", "repl-link/src/frame/sequence", "WINDOW", LessOne),
    ("the acks take at most {} bits", "repl-link/src/outbox/mod", "MAX_ACK_BITS", Plain),
    ("Every {}nd packet has a floor", "repl-link/src/outbox/mod", "FLOOR_INTERVAL", Plain),
    ("more than {} new packets a second", "repl-link/src/link", "PACKETS_PER_SECOND", Plain),
    ("an update of order {} is a table", "repl-net/src/body/segment", "TABLE_ORDER", Plain),
    ("except the first must take at least {} bits", "repl-net/src/body/segment", "LEAST_RUN_BITS", Plain),
    ("in milliseconds, at most {}, and 0", "repl-net/src/body/status", "MAX_ROUND_TRIP_MS", Plain),
    ("except the last, at least {} index", "repl-link/src/frame/cut", "LEAST_PART_BITS", Plain),
    ("a value of *part* below {},", "repl-link/src/frame/cut", "LEAST_PART_BITS", Plain),
    ("length eg({}): the bits of the content", "repl-link/src/frame/message", "LENGTH_ORDER", Plain),
    ("eg({}) for the others", "repl-link/src/frame/acks", "GAP_ORDER", Plain),
    ("length eg({}): packets in the range", "repl-link/src/frame/acks", "LENGTH_ORDER", Plain),
    ("for each of the {} numbers from oldest on", "repl-net/src/body/blob", "BLOB_SPAN", Plain),
    ("length u({}), from 1", "repl-net/src/body/path", "LENGTH_BITS", Plain),
    ("width u({}) bits of each slot", "repl-net/src/body/table", "WIDTH_BITS", Plain),
    ("at most {} times the bytes of all control packets", "repl-link/src/rate/allowance", "FACTOR", Word),
];

const SESSIONS: [Row; 22] = [
    (
        "The client answers about every {} until",
        "repl-link/src/session/client_handshake",
        "HELLO_INTERVAL",
        Time,
    ),
    ("zeros to the smaller of {} bytes", "repl-link/src/session/control", "HELLO_BYTES", Plain),
    ("An answer has at most {} entries", "repl-link/src/session/inquiry", "MAX_ENTRIES", Plain),
    ("entries in {} packets", "repl-link/src/session/inquiry", "MAX_PARTS", Plain),
    ("takes at most {} of the server's memory", "repl-link/src/session/inquiry", "MAX_ANSWER_BYTES", Bytes),
    ("length in bytes as `u({})`, at most 512", "repl-link/src/session/login", "LEN_BITS", Plain),
    ("as `u(10)`, at most {}, and", "repl-link/src/session/login", "MAX_BYTES", Plain),
    ("as `eg(4)`, at most {}, and", "repl-link/src/session/name", "MAX_NAME_BYTES", Plain),
    ("together they take at most {} bytes", "repl-link/src/session/mismatch", "MAX_REFUSAL_BYTES", Plain),
    (
        "repeats the welcome about every {} until",
        "repl-link/src/session/server_handshake",
        "WELCOME_INTERVAL",
        Time,
    ),
    ("sends *hello* about every {} until", "repl-link/src/session/client_handshake", "HELLO_INTERVAL", Time),
    (
        "told to wait repeats its hello about every {}.",
        "repl-link/src/session/client_handshake",
        "WAIT_INTERVAL",
        Time,
    ),
    (
        "If more cookies come within {}, the next",
        "repl-link/src/session/client_handshake",
        "HELLO_INTERVAL",
        Time,
    ),
    (
        "with a welcome at most every {}.",
        "repl-link/src/session/server_handshake",
        "LEAST_WELCOME_INTERVAL",
        Time,
    ),
    ("sends such a hello every {} after", "repl-link/src/session/client_handshake", "SILENCE_INTERVAL", Time),
    ("it has received nothing for {}.", "repl-link/src/session/client_handshake", "SILENCE", Time),
    (
        "a packet of state at least every {}.",
        "repl-link/src/session/client_handshake",
        "LONGEST_SILENCE",
        Time,
    ),
    ("Up to {} such connections wait at an address", "repl-link/src/endpoint/mod", "MAX_NEWCOMERS", Word),
    (
        "ends with *timeout* after the server's timeout, at least {} and",
        "repl-link/src/session/limits",
        "LEAST_STEP",
        Time,
    ),
    ("at least 5 s and at most {}. The time", "repl-link/src/session/limits", "LONGEST_STEP", Time),
    ("but at least every {} and at most", "repl-link/src/session/limits", "LONGEST_STEP", Time),
    ("and at most every {}, under", "repl-link/src/session/limits", "LEAST_STEP", Time),
];

const MESSAGES: [Row; 17] = [
    ("of consecutive ticks, at most {}:", "repl-net/src/inputs/bundle", "MOST_INPUTS", Plain),
    ("one of the last {} ticks that have begun", "repl-net/src/inputs/bundle", "MOST_LATE", Plain),
    ("for ticks that are {} or more ago", "repl-net/src/inputs/received", "KEPT_TICKS", Plain),
    ("or more ago, or more than {} ahead", "repl-net/src/inputs/received", "MOST_AHEAD_TICKS", Plain),
    ("bundles that have {} newer ones before them", "repl-net/src/inputs/received", "STALE", Plain),
    ("and then its rest: at most {} bytes", "repl-net/src/body/path", "MAX_PATH_BYTES", Plain),
    (
        "ends inside a character of it, a number above {}, and",
        "repl-net/src/body/asset_names",
        "MAX_NUMBER",
        Plain,
    ),
    ("a number {} or more above the first one", "repl-link/src/messages/channel", "MAX_MESSAGES", Plain),
    ("than its type may be, {} if", "repl-link/src/messages/channel", "USUAL_MESSAGE_BYTES", Bytes),
    ("otherwise, and never more than {},", "repl-link/src/messages/channel", "LARGEST_MESSAGE_BYTES", Bytes),
    ("a message while more than {} wait", "repl-link/src/messages/channel", "MAX_BYTES", Bytes),
    ("parts of a {} reliable message", "repl-link/src/messages/channel", "MAX_UNFINISHED", NextPlace),
    ("reliable message while {} are", "repl-link/src/messages/channel", "MAX_UNFINISHED", Word),
    ("or sequenced message after {} without", "repl-link/src/messages/assembly", "EXPIRY", Time),
    ("for the longest of {}, three", "repl-link/src/messages/exchange", "LONGEST_STALL", Time),
    ("of 30 s, {} timeouts of the reader", "repl-link/src/messages/exchange", "STALL_TIMEOUTS", Word),
    ("of the reader and {} round trips", "repl-link/src/messages/exchange", "STALL_ROUND_TRIPS", Plain),
];

const VALUES: [Row; 8] = [
    ("below(max + 1) if max ≤ {},", "repl-core/src/bits/count", "FIXED_COUNT_MAX", Plain),
    ("takes less than {} bits, zeros follow", "repl-core/src/bits/count", "LEAST_BITS", Plain),
    ("elements `eg(3)`, at most {};", "repl-core/src/schema/limits", "MAX_ELEMENTS", Plain),
    ("A label is a number of 1 to {} digits", "repl-core/src/ids/label/mod", "MAX_BYTES", Plain),
    ("id eg({}): the first id, less one", "repl-core/src/ids/item_list", "FIRST_ORDER", Plain),
    ("00 eg({}): digits of the previous label", "repl-core/src/ids/label/wire", "ORDER", Plain),
    ("as `u({})` if the flag is set, else", "repl-core/src/object/leaf", "SHORT_CHAR_BITS", Plain),
    ("if the flag is set, else as `u({})`", "repl-core/src/object/leaf", "CHAR_BITS", Plain),
];

/// Numbers on the page for which the code has no constant, with the words around them.
const NO_CONSTANT: [&str; 9] = [
    "the largest packet that it receives, 1,200 bytes by default",
    "one of the last 255 ticks",
    "one of the last 65,535 ticks",
    "digits to the base 256;",
    "IEEE 754,",
    "set for values below 128;",
    "under 128 bits of secret",
    "3 128-bit integers;",
    "a silence of a 240th to a 40th",
];

/// Returns the sections of the page before the example, with one space between two words.
fn page() -> String {
    let text = fs::read_to_string(root().join("docs/wire.md")).expect("the page is there");
    let (text, _) = text.split_once("## 8. ").expect("the last section is an example");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the value of a constant. Times are in milliseconds.
fn constant(file: &str, name: &str) -> u64 {
    let (name, end) = name.split_once('.').unwrap_or((name, ""));
    let text = fs::read_to_string(root().join(file).with_extension("rs")).expect("a source");
    let start = format!("const {name}: ");
    let (_, rest) = text.split_once(&start).unwrap_or_else(|| panic!("{file} has no constant {name}"));
    let (_, rest) = rest.split_once(" = ").expect("a constant has a value");
    let (value, _) = rest.split_once(";\n").expect("a constant ends with a semicolon");
    match (value.split_once("..="), end) {
        (Some((start, _)), "start") => number(file, start),
        (Some((_, last)), "end") => number(file, last),
        _ => number(file, value),
    }
}

/// Returns the value of an expression of numbers and of other constants of the file.
fn number(file: &str, expression: &str) -> u64 {
    let expression = expression.trim();
    let inside = |start: &str, end: &str| expression.strip_prefix(start)?.strip_suffix(end);
    if let Some(seconds) = inside("Duration::from_secs(", ")") {
        return 1_000 * number(file, seconds);
    }
    if let Some(millis) = inside("Duration::from_millis(", ")") {
        return number(file, millis);
    }
    if let Some(text) = inside("u32::from_le_bytes(*b\"", "\")") {
        return text.bytes().rev().fold(0, |value, byte| value << 8 | u64::from(byte));
    }
    for (sign, combine) in [
        (" << ", (|one, other| one << other) as fn(u64, u64) -> u64),
        (" / ", |one, other| one / other),
        (" * ", |one, other| one * other),
    ] {
        if let Some((one, other)) = expression.split_once(sign) {
            return combine(number(file, one), number(file, other));
        }
    }
    match expression.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(&digits.replace('_', ""), 16).expect("hexadecimal digits"),
        None => expression.replace('_', "").parse().unwrap_or_else(|_| constant(file, expression)),
    }
}

/// Returns a number with commas between groups of three digits.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

impl Written {
    /// Returns the text on the page for the value of a constant.
    fn text(self, name: &str, value: u64) -> String {
        match self {
            Plain => with_commas(value),
            LessOne => with_commas(value - 1),
            Hex => format!("{value:#x}"),
            Tag => value.to_le_bytes().iter().take(4).map(|&byte| char::from(byte)).collect(),
            Bytes if value >= 1 << 20 => format!("{} MiB", value >> 20),
            Bytes => format!("{} KiB", value >> 10),
            Time if name.ends_with("_SECONDS") => format!("{value} s"),
            Time if value.is_multiple_of(1_000) => format!("{} s", value / 1_000),
            Time => format!("{value} ms"),
            Word if value == 3 => "three".to_owned(),
            Word if value == 4 => "four".to_owned(),
            Word if value == 16 => "sixteen".to_owned(),
            NextPlace if value == 16 => "seventeenth".to_owned(),
            Word | NextPlace => panic!("write the word for {value}, the value of {name}"),
        }
    }
}

/// Returns the ranges of the page in which the texts of all rows and of [`NO_CONSTANT`] are. Panics if one of
/// the texts is missing.
fn compared(page: &str) -> Vec<std::ops::Range<usize>> {
    let mut parts = Vec::new();
    for (said, file, name, written) in [&TRANSPORT[..], &SESSIONS, &MESSAGES, &VALUES].concat() {
        let value = constant(file, name);
        let text = said.replace("{}", &written.text(name, value));
        let at = page.find(&text);
        let at =
            at.unwrap_or_else(|| panic!("{name} of {file}.rs is {value}, but docs/wire.md lacks: {text}"));
        parts.push(at..at + text.len());
    }
    for said in NO_CONSTANT {
        assert!(page.contains(said), "docs/wire.md does not say any more: {said}");
        parts.extend(page.match_indices(said).map(|(at, _)| at..at + said.len()));
    }
    parts
}

#[test]
fn r20_the_page_of_the_wire_format_has_the_constants_of_the_code() {
    let page = page();
    let parts = compared(&page);
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut rest = 0;
    while let Some(start) = page[rest..].find(is_digit).map(|at| rest + at) {
        let is_part = |letter: char| letter.is_ascii_digit() || letter == ',';
        let end = page[start..].find(|letter| !is_part(letter)).map_or(page.len(), |length| start + length);
        let is_of_a_name = page[..start].ends_with(|letter: char| letter.is_alphanumeric());
        let number = &page[start..end];
        let digits = if number.starts_with('0') { 0 } else { number.replace(',', "").len() };
        let is_compared = parts.iter().any(|part| part.contains(&start));
        let around = page[..end].chars().rev().take(60).collect::<Vec<_>>();
        let around: String = around.into_iter().rev().collect();
        assert!(digits < 3 || is_of_a_name || is_compared, "is there a constant for this number? {around}");
        rest = end;
    }
    let limit = format!(
        "the largest packet that it receives, {} bytes by default",
        with_commas(ServerConfig::default().mtu_bytes as u64)
    );
    assert!(page.contains(&limit), "{limit}");
}

/// Returns the CRC-32 of zlib over `bytes`, continued from the checksum `earlier`.
fn crc32(earlier: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!earlier, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    })
}

/// Computes the checksum as the page describes it, without the code of the library.
#[test]
fn r20_the_checksum_of_a_hello_is_the_one_that_the_page_describes() {
    let page = page();
    let (_, rest) = page.split_once("continued from the value `0x").expect("the page says where it begins");
    let (digits, _) = rest.split_once('`').expect("a backtick behind it");
    let start = u32::from_str_radix(digits, 16).expect("hexadecimal digits");
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.tick(Duration::ZERO);
    let hello = client.poll_transmit().expect("a client says hello");
    let salted = crc32(crc32(start, &0_u64.to_le_bytes()), &u64::MAX.to_le_bytes());
    let sum = crc32(salted, &hello[4..]);
    assert_eq!(sum.to_le_bytes(), hello[..4]);
}
