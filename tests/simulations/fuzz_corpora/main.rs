//! Runs the inputs of the fuzzers without a fuzzer: recorded sessions, inputs with which fuzzers found bugs,
//! and thousands of damaged sessions.
//!
//! *Invariant:* recorded sessions are accepted completely, so they have the current wire format.
//! `UPDATE_CORPORA=1` records the sessions again.

#[allow(dead_code, unreachable_pub, reason = "the fuzzers use these too")]
#[path = "../../../fuzz/src/lib.rs"]
mod targets;

mod damaged;
mod visits;

use std::fs;
use std::path::PathBuf;

use repl::sim::Rng;
use targets::packets::join;
use targets::to_client::Guest;
use targets::to_server::Host;
use targets::{bits, classes, page_request, to_client, to_server, values};

/// Returns the inputs of a corpus, by their names.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = folder(name);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("a corpus").map(|entry| entry.expect("an input").path()).collect();
    files.sort();
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, fs::read(path).expect("an input"))
    };
    files.into_iter().map(named).collect()
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name)
}

/// Writes these inputs into a corpus if `UPDATE_CORPORA` is set. Inputs that fuzzers found are not removed.
fn update(name: &str, inputs: &[(String, Vec<u8>)]) {
    if std::env::var_os("UPDATE_CORPORA").is_some() {
        fs::create_dir_all(folder(name)).expect("a folder");
        for (input, bytes) in inputs {
            fs::write(folder(name).join(input), bytes).expect("a file");
        }
    }
}

/// Runs a session. Returns the packets of the server and the packets of the client.
fn session(mtu_bytes: usize, ticks: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut host, mut guest) = (Host::new(mtu_bytes), Guest::new(false));
    let (mut of_server, mut of_client) = (Vec::new(), Vec::new());
    for tick in 0..ticks {
        let mut said = guest.tick();
        if said.is_empty() {
            // An empty packet stands for a tick in which the server receives nothing.
            said.push(Vec::new());
        }
        for packet in said {
            host.hear(packet.get(4..).unwrap_or_default());
            of_client.push(packet);
            for packet in host.tick() {
                // In every eighth tick nothing arrives.
                if tick % 8 != 7 {
                    assert!(guest.hear(&packet[4..]), "a packet of the server");
                    of_server.push(packet);
                }
            }
        }
    }
    assert!(guest.is_connected() && host.is_connected());
    (of_server, of_client)
}

/// The recorded sessions of a server, by their names.
fn server_sessions() -> Vec<(String, Vec<u8>)> {
    let record = |(name, mtu_bytes, ticks): (&str, usize, usize)| {
        (name.to_owned(), join(&session(mtu_bytes, ticks).0))
    };
    [("session-short", 1_200, 8), ("session-long", 1_200, 40), ("session-small", 160, 40)].map(record).into()
}

/// The recorded sessions of a client, by their names.
fn client_sessions() -> Vec<(String, Vec<u8>)> {
    let record = |(name, ticks): (&str, usize)| (name.to_owned(), join(&session(1_200, ticks).1));
    [("session-short", 6), ("session-long", 24)].map(record).into()
}

#[test]
fn sessions_of_a_server_are_accepted_and_bring_its_objects() {
    update("to_client", &server_sessions());
    for (name, data) in corpus("to_client") {
        let (guest, accepted, all) = to_client::run(&data);
        if name.starts_with("session") {
            assert!(all > 5 && accepted == all, "{name}: {accepted} of {all}; record it again");
            let (actors, pebbles, heroes, birds, placed) = guest.shown();
            assert!(actors.len() >= 2 && !pebbles.is_empty() && heroes.len() == 2, "{name} brings objects");
            let sing = birds.iter().filter(|(_, bird)| !bird.songs.is_empty() && bird.height > 1).count();
            assert!(birds.len() > 4 && sing > 0, "{name} brings tables of what is near: {birds:?}");
            assert!(placed.is_some_and(|pebble| pebble.weight < 77), "{name} binds what is placed");
            if all > 20 {
                let heard = guest.heard;
                assert!(heard.chats >= 2 && heard.chat_bytes > 1_300, "{name}: {heard:?}");
                assert!(
                    heard.scores > 1 && heard.inputs > 9 && heard.effects > 1 && heard.polled > 1,
                    "{name}: {heard:?}"
                );
                assert!(guest.runs() >= 10, "{name}: {} calls", guest.runs());
            }
        }
    }
}

#[test]
fn sessions_of_a_client_are_accepted() {
    update("to_server", &client_sessions());
    for (name, data) in corpus("to_server") {
        let host = to_server::run(&data);
        if name.starts_with("session") {
            assert!(host.is_connected(), "{name} is refused; record it again");
        }
        if name == "session-long" {
            let heard = host.heard;
            assert!(
                heard.chats >= 2 && heard.scores > 1 && heard.effects > 0 && heard.polled > 0,
                "{heard:?}"
            );
            assert!(host.runs() >= 10, "{} calls", host.runs());
        }
    }
}

#[test]
fn forms_of_numbers_are_written_as_they_are_read() {
    let input = |form: u8| {
        let forms: Vec<u8> = (0..16).map(|argument| argument * 8 + form).collect();
        (format!("form-{form}"), [&[16][..], &forms, &[0x01; 60]].concat())
    };
    update("bits", &(0..8).map(input).collect::<Vec<_>>());
    let read: usize = corpus("bits").iter().map(|(_, data)| bits::run(data)).sum();
    assert!(read >= 7 * 16, "{read} forms");
}

#[test]
fn values_that_are_read_can_be_written() {
    let actor = |ticks: usize| {
        let mut actor = classes::Actor::default();
        (0..ticks).for_each(|tick| classes::change(&mut actor, tick, repl::ObjectRef::default()));
        values::written(&actor)
    };
    let number = values::TYPES as u8 - 2;
    let input = |ticks| (format!("actor-{ticks:02}"), [&[number], &actor(ticks)[..]].concat());
    update("values", &[input(1), input(12), input(40)]);
    let each = (0..values::TYPES as u8)
        .map(|number| [&[number][..], &[1, 0, 0, 0x40, 0, 0, 0, 0].repeat(4)].concat());
    let inputs = corpus("values").into_iter().map(|(_, data)| data).chain(each);
    let read = inputs.filter(|data| values::run(data)).count();
    assert!(read >= values::TYPES / 2, "{read} of {} types", values::TYPES);
}

#[test]
fn requests_of_pages_are_read_whole_cut_and_damaged() {
    let connect = [
        (":method", "CONNECT"),
        (":protocol", "webtransport"),
        (":scheme", "https"),
        (":authority", "play.example.com:7777"),
        (":path", "/"),
        ("origin", "https://play.example.com"),
    ];
    let without = |left_out: &str| {
        let fields: Vec<_> = connect.into_iter().filter(|(name, _)| *name != left_out).collect();
        (format!("without-{}", left_out.trim_start_matches(':')), page_request::written(&fields))
    };
    let page = ("page".to_owned(), page_request::written(&connect));
    let pageless = ("page-without-origin".to_owned(), without("origin").1);
    update("page_request", &[page, pageless, without(":protocol"), without(":method"), without(":path")]);
    let requests = corpus("page_request");
    for (name, data) in &requests {
        assert_eq!(page_request::run(data), name.starts_with("page"), "{name}");
    }
    let mut rng = Rng::new(3);
    for _ in 0..20_000 {
        let mut data = rng.pick(&requests).expect("there are some").1.clone();
        for _ in 0..rng.below(4) {
            let at = rng.below(data.len() as u64) as usize;
            data[at] = rng.below(256) as u8;
        }
        data.truncate(rng.below(data.len() as u64 + 1) as usize);
        page_request::run(&data);
    }
}
