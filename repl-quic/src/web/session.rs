//! The session of WebTransport of one browser, and its streams.
//!
//! *Invariant:* a browser decides neither how many bytes are stored nor how long the work for them takes. Of
//! its streams only the request for the session is read, up to [`REQUEST_BYTES`]; the content of all others
//! is dropped.

use quinn_proto::{Connection, Dir, ReadError, Side, StreamEvent, StreamId};
use web_transport_proto::{
    Capsule, ConnectError, ConnectRequest, ConnectResponse, Frame, Settings, VarInt as WebVarInt,
};

/// The greatest size in bytes of the request for a session. Those of browsers have a few hundred.
const REQUEST_BYTES: usize = 4 << 10;

/// The code of HTTP/3 for the end of a connection without an error.
const NO_ERROR: u32 = 0x100;

/// The code of HTTP/3 for a request that is not complete or has not the form of one.
const MESSAGE_ERROR: u32 = 0x10e;

/// The server's side of a session.
#[derive(Debug)]
pub(crate) struct WebSession(State);

#[derive(Debug)]
enum State {
    /// The browser has not asked for the session yet. These bytes of its request have arrived.
    Asking(Vec<u8>),
    /// The browser waits for the answer.
    Asked,
    Open,
    Over,
}

/// What a browser says with its streams.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A page of this origin asks for the session.
    Asked(Option<String>),
    /// The browser has ended the session, or does not speak WebTransport. The connection must be closed with
    /// this code of HTTP/3 and this reason.
    Left(u32, &'static str),
}

impl WebSession {
    /// The bytes with which each datagram of the session begins: the number of the session's stream, divided
    /// by four (RFC 9297).
    pub(crate) const PREFIX: &[u8] = &[0];

    /// Begins HTTP/3 on a connection: tells the browser that it may ask for one session of WebTransport.
    pub(crate) fn begin(connection: &mut Connection) -> Self {
        let mut settings = Settings::default();
        settings.enable_webtransport(1);
        let mut bytes = Vec::new();
        settings.encode(&mut bytes);
        if let Some(control) = connection.streams().open(Dir::Uni) {
            write(connection, control, &bytes);
        }
        Self(State::Asking(Vec::new()))
    }

    /// Returns whether packets may be exchanged.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.0, State::Open)
    }

    /// Reads what has arrived on the streams of the browser.
    pub(crate) fn hear(&mut self, connection: &mut Connection, event: &StreamEvent) -> Option<Heard> {
        match *event {
            StreamEvent::Opened { dir: Dir::Uni } => {
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    read(connection, id, |_| ());
                }
                None
            }
            StreamEvent::Opened { dir: Dir::Bi } => {
                connection.streams().accept(Dir::Bi);
                self.hear_session(connection)
            }
            StreamEvent::Readable { id } if id == session() => self.hear_session(connection),
            StreamEvent::Readable { id } => {
                read(connection, id, |_| ());
                None
            }
            StreamEvent::Stopped { id, .. } if id == session() => self.leave(),
            _ => None,
        }
    }

    /// Reads the stream of the session: the request, and the end.
    fn hear_session(&mut self, connection: &mut Connection) -> Option<Heard> {
        let mut is_too_long = false;
        let is_finished = read(connection, session(), |chunk| {
            if let State::Asking(request) = &mut self.0 {
                is_too_long |= request.len().saturating_add(chunk.len()) > REQUEST_BYTES;
                if !is_too_long {
                    request.extend_from_slice(chunk);
                }
            }
        });
        if is_too_long {
            return self.wrong("the request is too long");
        }
        let heard = self.understand();
        if is_finished { self.leave() } else { heard }
    }

    /// Reads the request, if it is complete.
    fn understand(&mut self) -> Option<Heard> {
        let State::Asking(request) = &self.0 else { return None };
        match ConnectRequest::decode(&mut request.as_slice()) {
            Ok(request) => {
                self.0 = State::Asked;
                let origin = request.headers.get("origin").and_then(|origin| origin.to_str().ok());
                Some(Heard::Asked(origin.map(str::to_owned)))
            }
            Err(ConnectError::UnexpectedEnd) => None,
            Err(_) => self.wrong("this server answers only requests for a session of WebTransport"),
        }
    }

    fn wrong(&mut self, why: &'static str) -> Option<Heard> {
        self.0 = State::Over;
        Some(Heard::Left(MESSAGE_ERROR, why))
    }

    fn leave(&mut self) -> Option<Heard> {
        let was_over = matches!(std::mem::replace(&mut self.0, State::Over), State::Over);
        (!was_over).then_some(Heard::Left(NO_ERROR, "the page has ended the session"))
    }

    /// Accepts the session for which the browser has asked.
    pub(crate) fn accept(&mut self, connection: &mut Connection) {
        let mut answer = Vec::new();
        if matches!(self.0, State::Asked) && ConnectResponse::OK.encode(&mut answer).is_ok() {
            write(connection, session(), &answer);
            self.0 = State::Open;
        }
    }

    /// Ends the session, and tells the page a code and the reason. Returns `false` if there is no session
    /// that can be ended so. A session that was not accepted yet is accepted before it ends, because a page
    /// does not learn why a session is refused.
    pub(crate) fn end(&mut self, connection: &mut Connection, code: u32, why: &str) -> bool {
        self.accept(connection);
        if !self.is_open() {
            return false;
        }
        let (mut capsule, mut bytes) = (Vec::new(), Vec::new());
        Capsule::CloseWebTransportSession { code, reason: why.to_owned() }.encode(&mut capsule);
        Frame::DATA.encode(&mut bytes);
        WebVarInt::from_u32(capsule.len() as u32).encode(&mut bytes);
        bytes.extend_from_slice(&capsule);
        write(connection, session(), &bytes);
        // If the browser has stopped the stream, it knows already that the session is over.
        connection.send_stream(session()).finish().ok();
        self.0 = State::Over;
        true
    }
}

/// Returns the stream of the session: the first one that a browser opens in both directions. It can open only
/// one.
fn session() -> StreamId {
    StreamId::new(Side::Client, Dir::Bi, 0)
}

/// Writes to a stream. Everything that is written in a session fits into the window of a stream. If the
/// browser has stopped the stream, this does nothing.
fn write(connection: &mut Connection, stream: StreamId, bytes: &[u8]) {
    connection.send_stream(stream).write(bytes).ok();
}

/// Reads all bytes that have arrived on a stream. Returns whether the stream has ended.
fn read(connection: &mut Connection, stream: StreamId, mut take: impl FnMut(&[u8])) -> bool {
    let mut stream = connection.recv_stream(stream);
    let Ok(mut chunks) = stream.read(true) else { return false };
    let is_finished = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => take(&chunk.bytes),
            Ok(None) | Err(ReadError::Reset(_)) => break true,
            Err(ReadError::Blocked) => break false,
        }
    };
    // The engine sends the new window with the next datagrams.
    let _ = chunks.finalize();
    is_finished
}
