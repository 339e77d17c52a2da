//! Players in browsers: a peer that uses WebTransport as browsers do, and peers that misuse it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    StreamEvent, StreamId, TransportConfig, VarInt,
};
use repl_link::parts::{Visit, from_sealed, to_sealed};
use repl_link::plain::{MessageClient, SessionEvent};
use repl_link::{Channel, ClientTerms, DisconnectReason, Guest, Session};
use repl_sim::{LinkConditions, Loss, PeerId, Rng};
use web_transport_proto::http::{HeaderName, HeaderValue};
use web_transport_proto::{Capsule, ConnectRequest, ConnectResponse, Frame, Settings, VarInt as WebVarInt};

use super::lan::{FRAME, Lan, SECOND, SERVER, address, link, unique};
use crate::closing::{FULL, OVER, REFUSED};
use crate::native::settings::HTTP_3;
use crate::native::wire::{Received, Wire};
use crate::{QuicConfig, Trust, WebOrigins};

const PAGE: &str = "https://play.example.com";

/// A browser, as far as the network sees it: QUIC with HTTP/3, and what has arrived on its streams.
struct Browser {
    peer: PeerId,
    endpoint: Endpoint,
    connection: Connection,
    handle: ConnectionHandle,
    start: Instant,
    begun_at: Duration,
    arrived: BTreeMap<StreamId, Vec<u8>>,
    /// Whether the stream of the session has ended.
    is_finished: bool,
    is_connected: bool,
    is_lost: bool,
}

impl Browser {
    /// Begins to connect to the server of `lan`.
    fn new(lan: &Lan) -> Self {
        let mut tls = Trust::pinned([lan.identity.hash()]).tls().expect("it is good");
        tls.alpn_protocols = vec![HTTP_3.to_vec()];
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("it is TLS 1.3")));
        let mut transport = TransportConfig::default();
        transport.datagram_receive_buffer_size(Some(1 << 20)).max_idle_timeout(None);
        config.transport_config(Arc::new(transport));
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"browser");
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::new(Arc::new(key))), None, true, None);
        let start = Instant::now();
        let begun = endpoint.connect(start, config, address(SERVER), "localhost");
        let (handle, connection) = begun.expect("it begins");
        Self {
            peer: lan.link(),
            endpoint,
            connection,
            handle,
            start,
            begun_at: lan.now(),
            arrived: BTreeMap::new(),
            is_finished: false,
            is_connected: false,
            is_lost: false,
        }
    }

    /// Receives, and sends what the last step has left.
    fn step(&mut self, lan: &Lan) {
        let now = self.start + (lan.now() - self.begun_at);
        let mut wire = super::lan::AirWire::of(&lan.air, self.peer);
        let mut answer = Vec::new();
        wire.receive(&mut |Received { from, to, ecn, bytes }| {
            let event = self.endpoint.handle(now, *from, *to, *ecn, BytesMut::from(*bytes), &mut answer);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                self.connection.handle_event(event);
            }
        })
        .expect("the wire works");
        if self.connection.poll_timeout().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::ConnectionLost { .. } => self.is_lost = true,
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    while let Some(id) = self.connection.streams().accept(Dir::Uni) {
                        self.read(id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                _ => {}
            }
        }
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        let mut buffer = Vec::new();
        while let Some(transmit) = self.connection.poll_transmit(now, 1, &mut buffer) {
            wire.send(&transmit, &buffer).expect("the wire works");
            buffer.clear();
        }
    }

    fn read(&mut self, id: StreamId) {
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let arrived = self.arrived.entry(id).or_default();
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => arrived.extend_from_slice(&chunk.bytes),
                end => break self.is_finished |= matches!(end, Ok(None)),
            }
        }
        let _ = chunks.finalize();
    }

    /// Opens a stream in one direction or in both, and writes to it.
    fn open(&mut self, dir: Dir, bytes: &[u8]) -> Option<StreamId> {
        let id = self.connection.streams().open(dir)?;
        self.connection.send_stream(id).write(bytes).ok();
        Some(id)
    }

    /// Begins HTTP/3 and asks for a session, as the browser does for a page of the origin `origin`.
    fn ask(&mut self, origin: &str) {
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut bytes = Vec::new();
        settings.encode(&mut bytes);
        self.open(Dir::Uni, &bytes).expect("the server lets browsers open streams");
        // The streams of QPACK, on which nothing follows.
        assert!([2, 3].into_iter().all(|kind| self.open(Dir::Uni, &[kind]).is_some()));
        self.open(Dir::Bi, &request(origin)).expect("there is room");
    }

    fn session(&self) -> StreamId {
        StreamId::new(quinn_proto::Side::Client, Dir::Bi, 0)
    }

    /// Returns the answer of the server, and the capsules after it.
    fn answer(&self) -> Option<(ConnectResponse, Vec<Capsule>)> {
        let mut bytes = &**self.arrived.get(&self.session())?;
        let response = ConnectResponse::decode(&mut bytes).ok()?;
        let mut capsules = Vec::new();
        while let Ok((Frame::DATA, mut data)) = Frame::read(&mut bytes) {
            capsules.push(Capsule::decode(&mut data).expect("the server writes whole capsules"));
        }
        Some((response, capsules))
    }

    /// Returns the code and the reason with which the server has ended the session.
    fn end(&self) -> Option<(u32, String)> {
        self.answer()?.1.into_iter().find_map(|capsule| match capsule {
            Capsule::CloseWebTransportSession { code, reason } => Some((code, reason)),
            _ => None,
        })
    }
}

fn request(origin: &str) -> Vec<u8> {
    let page = HeaderValue::from_str(origin).expect("it is text");
    let url = "https://10.0.0.0:7777/".parse::<url::Url>().expect("it is one");
    let mut bytes = Vec::new();
    let request = ConnectRequest::new(url).with_header(HeaderName::from_static("origin"), page);
    request.encode(&mut bytes).expect("it fits");
    bytes
}

fn lan(origins: WebOrigins) -> Lan {
    Lan::with(link(20), QuicConfig { web_origins: origins, ..QuicConfig::default() })
}

/// Runs the server and a browser for some time.
fn run(lan: &mut Lan, browser: &mut Browser, time: Duration) {
    until(lan, browser, time, |_, _| false);
}

/// Runs until `is_reached`, but at most for `most`. Returns whether it was reached.
fn until(
    lan: &mut Lan,
    browser: &mut Browser,
    most: Duration,
    is_reached: impl Fn(&Lan, &Browser) -> bool,
) -> bool {
    let end = lan.now() + most;
    while lan.now() < end && !is_reached(lan, browser) {
        lan.step();
        browser.step(lan);
    }
    is_reached(lan, browser)
}

/// Returns a browser of which a page has asked for a session.
fn asking(lan: &mut Lan, origin: &str) -> Browser {
    let mut browser = Browser::new(lan);
    assert!(until(lan, &mut browser, SECOND, |_, browser| browser.is_connected));
    browser.ask(origin);
    run(lan, &mut browser, SECOND / 2);
    browser
}

/// A client of `repl` in a page.
struct Page {
    browser: Browser,
    client: MessageClient,
    heard: Vec<String>,
    ends: Vec<DisconnectReason>,
}

impl Page {
    fn new(browser: Browser) -> Self {
        let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(unique() + 1));
        client.register::<String>(Channel::Ordered);
        client.visit_mut().seal();
        Self { browser, client, heard: Vec::new(), ends: Vec::new() }
    }

    fn step(&mut self, lan: &mut Lan) {
        lan.step();
        self.browser.step(lan);
        if self.browser.answer().is_none() {
            return;
        }
        let now = lan.now();
        let mut opened = Vec::new();
        while let Some(datagram) = self.browser.connection.datagrams().recv() {
            from_sealed(datagram.strip_prefix(&[0]).expect("it is of the session"), &mut opened);
            // Packets that arrive after the end of the session are refused.
            self.client.receive(now, &opened).ok();
        }
        self.heard.extend(std::iter::from_fn(|| self.client.poll::<String>()));
        self.client.tick(now);
        self.ends.extend(self.client.take_end());
        while let Some(packet) = self.client.visit_mut().poll_transmit() {
            let mut sealed = vec![0];
            to_sealed(packet, &mut sealed);
            self.browser.connection.datagrams().send(sealed.into(), true).ok();
        }
    }

    fn until(&mut self, lan: &mut Lan, is_reached: impl Fn(&Lan, &Self) -> bool) -> bool {
        let end = lan.now() + 10 * SECOND;
        while lan.now() < end && !is_reached(lan, self) {
            self.step(lan);
        }
        is_reached(lan, self)
    }
}

#[test]
fn a_page_has_a_session_beside_native_clients_also_with_losses() {
    let conditions = LinkConditions { loss: Loss::Independent(0.1), ..link(20) };
    let config = QuicConfig { web_origins: WebOrigins::only([PAGE]), ..QuicConfig::default() };
    let mut lan = Lan::with(conditions, config);
    let native = lan.enter();
    let mut page = Page::new(Browser::new(&lan));
    assert!(page.until(&mut lan, |_, page| page.browser.is_connected));
    page.browser.ask(PAGE);
    assert!(page.until(&mut lan, |_, page| page.browser.answer().is_some()));
    assert!(page.until(&mut lan, |_, page| page.client.is_connected()), "{:?}", page.ends);
    for number in 0..50 {
        page.client.send(&format!("up {number}")).expect("there is room");
        lan.server.send_to_all(&format!("down {number}")).expect("there is room");
        page.step(&mut lan);
    }
    assert!(page.until(&mut lan, |lan, page| {
        [lan.heard.len(), lan.guests[native].heard.len(), page.heard.len()] == [50; 3]
    }));
    assert!(page.heard.iter().enumerate().all(|(number, text)| *text == format!("down {number}")));
    assert_eq!(lan.quic.clients(), 2);
    // It leaves as browsers do.
    let session = page.browser.session();
    page.browser.connection.send_stream(session).finish().expect("it is open");
    lan.events.clear();
    assert!(page.until(&mut lan, |lan, _| !lan.events.is_empty()));
    assert!(matches!(lan.events[..], [SessionEvent::Disconnected(_, DisconnectReason::Closed)]));
    assert!(page.until(&mut lan, |lan, page| page.browser.is_lost && lan.quic.clients() == 1));
}

#[test]
fn the_first_message_reaches_a_page_after_four_round_trips() {
    let config = QuicConfig { web_origins: WebOrigins::any(), ..QuicConfig::default() };
    let mut lan = Lan::with(link(200), config);
    let mut page = Page::new(Browser::new(&lan));
    let start = lan.now();
    page.until(&mut lan, |_, page| page.browser.is_connected && !page.browser.arrived.is_empty());
    assert!(
        lan.now() - start <= 2 * Duration::from_millis(200) + 3 * FRAME,
        "settings come with the handshake"
    );
    page.browser.ask(PAGE);
    page.until(&mut lan, |lan, _| !lan.events.is_empty());
    lan.server.send_to_all(&"welcome".to_owned()).expect("there is room");
    assert!(page.until(&mut lan, |_, page| !page.heard.is_empty()));
    let took = lan.now() - start;
    assert!(took <= 4 * Duration::from_millis(400), "{took:?}");
}

#[test]
fn a_page_of_another_origin_learns_that_it_may_not_connect() {
    let mut lan = lan(WebOrigins::only([PAGE]));
    let mut browser = asking(&mut lan, "https://evil.example.com");
    let (code, why) = browser.end().expect("the session was ended");
    assert!(code == REFUSED && why.contains("`web_origins`"), "{code}: {why}");
    assert!(browser.is_finished && lan.quic.counters().strangers == 1);
    browser.connection.datagrams().send(Bytes::from_static(&[0; 40]), true).expect("it can be sent");
    run(&mut lan, &mut browser, 2 * SECOND);
    assert!(lan.events.is_empty() && lan.quic.counters().accepted == 0 && browser.is_lost);
}

#[test]
fn a_server_without_origins_does_not_speak_http() {
    let mut lan = lan(WebOrigins::none());
    let mut browser = Browser::new(&lan);
    assert!(until(&mut lan, &mut browser, SECOND, |_, browser| browser.is_lost));
    assert!(!browser.is_connected);
}

#[test]
fn a_page_learns_that_the_server_is_full_or_ends() {
    let config = QuicConfig { max_clients: 1, web_origins: WebOrigins::any(), ..QuicConfig::default() };
    let mut lan = Lan::with(link(20), config);
    let mut page = Page::new(Browser::new(&lan));
    assert!(page.until(&mut lan, |_, page| page.browser.is_connected));
    page.browser.ask(PAGE);
    assert!(page.until(&mut lan, |_, page| page.browser.answer().is_some()));
    // Another client takes the last place before the first packet of the page arrives.
    lan.enter();
    lan.settle();
    assert!(page.until(&mut lan, |_, page| page.browser.end().is_some_and(|(code, _)| code == FULL)));
    assert!(page.until(&mut lan, |_, page| page.browser.is_lost));
}

#[test]
fn a_page_learns_why_its_session_has_ended() {
    let mut lan = lan(WebOrigins::any());
    let mut page = Page::new(Browser::new(&lan));
    assert!(page.until(&mut lan, |_, page| page.browser.is_connected));
    page.browser.ask(PAGE);
    assert!(page.until(&mut lan, |_, page| page.client.is_connected()));
    lan.quic.drain(lan.now());
    assert!(page.until(&mut lan, |_, page| !page.ends.is_empty()));
    assert_eq!(page.ends, [DisconnectReason::Closed]);
    assert!(page.until(&mut lan, |_, page| page.browser.end().is_some_and(|(code, _)| code == OVER)));
}

/// Returns a browser whose TLS handshake is finished, and that has opened no stream.
fn greeted(lan: &mut Lan) -> Browser {
    let mut browser = Browser::new(lan);
    assert!(until(lan, &mut browser, SECOND, |_, browser| browser.is_connected));
    browser
}

#[test]
fn strange_streams_do_not_harm_a_server() {
    let mut get = Vec::new();
    Frame::HEADERS.encode(&mut get);
    WebVarInt::from_u32(2).encode(&mut get);
    get.extend_from_slice(&[0, 0]);
    let huge = [&[1, 0x80, 0, 0x40, 0][..], &vec![7; 6_000]].concat();
    let data_first = [&[0, 3][..], b"abc"].concat();
    for (name, bytes) in [("get", get), ("huge", huge), ("data", data_first), ("noise", vec![0xff; 300])] {
        let mut lan = lan(WebOrigins::any());
        let mut browser = greeted(&mut lan);
        browser.open(Dir::Bi, &bytes).expect("there is room");
        run(&mut lan, &mut browser, SECOND);
        assert!(browser.is_lost, "{name}");
        run(&mut lan, &mut browser, 10 * SECOND);
        let left = (lan.quic.unfinished_handshakes(), lan.quic.connections(), lan.events.len());
        assert_eq!(left, (0, 0, 0), "{name}");
    }
}

#[test]
fn only_one_request_and_few_other_streams_can_be_open() {
    let mut lan = lan(WebOrigins::any());
    let mut browser = greeted(&mut lan);
    assert!(browser.open(Dir::Bi, &[]).is_some() && browser.open(Dir::Bi, &[]).is_none());
    let open = std::iter::from_fn(|| browser.open(Dir::Uni, &[9])).count();
    assert_eq!(open, 8);
    // Who never asks for a session is a stranger for as long as a handshake may take.
    run(&mut lan, &mut browser, 4 * SECOND);
    assert!(!browser.is_lost && lan.quic.unfinished_handshakes() == 1);
    run(&mut lan, &mut browser, 2 * SECOND);
    assert!(browser.is_lost && lan.quic.unfinished_handshakes() == 0);
}

#[test]
fn a_stream_that_never_ends_takes_no_memory() {
    let mut lan = lan(WebOrigins::any());
    let mut browser = asking(&mut lan, PAGE);
    assert!(browser.answer().is_some_and(|(_, capsules)| capsules.is_empty()));
    let (noise, mut written) = ([7; 1_000], 0);
    let control = browser.open(Dir::Uni, &[0]).expect("there is room");
    for _ in 0..300 {
        for stream in [control, browser.session()] {
            written += browser.connection.send_stream(stream).write(&noise).unwrap_or(0);
        }
        run(&mut lan, &mut browser, FRAME);
    }
    // Its bytes are dropped as they come, so the windows open again and again.
    assert!(written > 10 * (8 << 10), "{written}");
    assert!(!browser.is_lost);
}

#[test]
fn random_bytes_on_the_streams_of_a_browser_end_at_most_its_own_connection() {
    let mut rng = Rng::new(11);
    let mut lan = lan(WebOrigins::only([PAGE]));
    let native = lan.enter();
    lan.settle();
    for _ in 0..200 {
        let mut browser = greeted(&mut lan);
        let mut bytes = if rng.below(2) == 0 { request(PAGE) } else { Vec::new() };
        for _ in 0..rng.below(4) {
            let at = rng.below(bytes.len() as u64 + 1) as usize;
            bytes.insert(at, rng.below(256) as u8);
        }
        let dir = if rng.below(3) == 0 { Dir::Uni } else { Dir::Bi };
        browser.open(dir, &bytes);
        let datagram: Vec<u8> = (0..rng.below(60)).map(|_| rng.below(256) as u8).collect();
        browser.connection.datagrams().send(datagram.into(), true).ok();
        run(&mut lan, &mut browser, SECOND / 5);
        browser.connection.close(browser.start, VarInt::from_u32(0), Bytes::new());
        run(&mut lan, &mut browser, FRAME);
    }
    assert!(lan.guests[native].client.is_connected() && lan.guests[native].ends.is_empty());
    lan.run(10 * SECOND);
    assert_eq!((lan.quic.unfinished_handshakes(), lan.quic.clients()), (0, 1));
}
