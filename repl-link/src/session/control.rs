//! Control packets: the messages that begin and end a session.
//!
//! The client sends a hello with its limits and one checksum of all its classes and their initial values. If
//! the checksum equals the server's, the server welcomes (accepts) the client. If the checksums differ, the
//! server asks the client about its classes until the first difference is known (see `inquiry`), and refuses
//! the client with this difference.
//!
//! *Invariant:* the checksum of a control packet includes the session, so the packet is valid in this session
//! only. Only the hello's checksum does not include the session, because the hello itself contains the number
//! of the session. After the welcome, the checksum of the packet that ends the session also includes the
//! token (R25).
//!
//! To add a packet:
//!
//! 1. Add a variant to [`Control`], and its number to `to_packet` and `read`. All eight numbers are in use,
//!    and a flag already splits the last number into two packets. So split another number in the same way.
//! 2. Handle the variant in `control` of the handshake that receives it. The compiler does not report a
//!    missing case: the packet is then ignored.
//! 3. Change the version of the protocol (in `frame/packet` and `tests/support/forge.rs`).
//! 4. If the packet is padded, add it to the padded packets in `read`.
//!
//! A packet whose checksum includes the token is read only if it ends the session or belongs to probes. For
//! an address without a connection, an endpoint handles only hellos. `docs/wire.md` describes all packets.

use repl_core::{BitReader, BitWriter, ReadError};

use crate::frame::packet::{self, MTU_BYTES, PacketKind, Salt, read_end};
use crate::queue::send_queue::SendQueue;
use crate::session::closing::Closing;
use crate::session::disconnect::DisconnectReason;
use crate::session::inquiry::{Part, Question};
use crate::session::limits::{
    ClientLimits, LimitMismatch, read_packet_bytes, read_timeout, write_packet_bytes,
};
use crate::session::login::{read_login, write_login};
use crate::session::mismatch::LayoutMismatch;

/// The size of a hello in bytes, unless the client's largest packet is smaller.
pub(crate) const HELLO_BYTES: usize = 1_200;

/// The smallest size of a client's answer about its classes. This size is also the smallest value that a
/// packet limit can have.
const ANSWER_BYTES: usize = *MTU_BYTES.start();

/// No probe is answered while this many bytes wait to be sent. So answers to probes cannot take much memory.
const MOST_WAITING_BYTES: usize = 64 << 10;

/// The data that a client adds to its hello after it has received a cookie from the server, or at once over a
/// transport that seals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    /// The server's cookie. It shows that the client receives packets at its address.
    pub cookie: u64,
    /// The token of the welcome, or zero before the welcome.
    pub token: u64,
    /// The login for the application of the server. It is empty after the welcome.
    pub login: Vec<u8>,
}

/// The content of a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub session: u64,
    /// The checksum of the client's classes.
    pub checksum: u64,
    pub limits: ClientLimits,
    /// The cookie, the token and the login. `None` before the client knows a cookie, unless the transport
    /// seals.
    pub proof: Option<Proof>,
}

/// The content of a welcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Welcome {
    /// After this time of silence the server closes the connection.
    pub timeout_ms: u32,
    /// Only the two sides of the connection know the token.
    pub token: u64,
    /// The instance number of the server. A restarted server has a new number.
    pub instance: u64,
    /// The largest packet that the server receives.
    pub packet_bytes: usize,
    /// The answer of the server's application to the login.
    pub answer: Vec<u8>,
    /// Whether the checksums of packets of state include the token. They do not if the transport
    /// authenticates the sender.
    pub seals_state: bool,
}

/// The content of a control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A client begins a session, or repeats its hello.
    Hello(Hello),
    /// A server accepts a client. Packets of state follow.
    Welcome(Welcome),
    /// A server asks a question about the client's classes, because the checksums differ. The packet also
    /// contains the size of the largest packet that the server receives.
    Differs(usize, Question),
    /// A client sends a part of its answer to the server's question.
    Classes(Part),
    /// A server refuses a client because of the first difference between their classes, and the session ends.
    Refused(LayoutMismatch),
    /// A server refuses a client because the client's limits are below the server's, and the session ends.
    TooSmall(LimitMismatch),
    /// One side ends the session.
    Closing(Closing),
    /// A server asks the client to send its hello again, with this cookie.
    Retry(u64),
    /// A server asks the client to send its hello again later, because the application has not answered the
    /// login yet.
    Wait,
    /// One side tests whether the path carries packets of the size of this packet. Contains the number of the
    /// probe.
    Probe(u16),
    /// One side has received the probe with this number.
    ProbeArrived(u16),
}

impl Control {
    /// Returns the packet as bytes. The checksum of the packet includes the session (R25), except for a
    /// hello, which contains the session instead. To include the token in the checksum, pass the session xor
    /// the token.
    pub(crate) fn to_packet(&self, session: u64) -> Vec<u8> {
        let bytes = match self {
            Self::Hello(hello) => hello.limits.mtu_bytes().min(HELLO_BYTES),
            Self::Classes(_) => ANSWER_BYTES,
            _ => 0,
        };
        self.to_padded_packet(session, bytes)
    }

    /// Does the same as [`to_packet`](Self::to_packet), but pads the packet to at least `bytes` bytes. Only
    /// hellos, answers about classes and probes may be padded.
    pub(crate) fn to_padded_packet(&self, session: u64, bytes: usize) -> Vec<u8> {
        let mut writer = BitWriter::new();
        packet::begin(PacketKind::Control, &mut writer);
        match self {
            Self::Hello(hello) => hello.write(&mut writer),
            Self::Welcome(welcome) => welcome.write(&mut writer),
            Self::Differs(packet_bytes, question) => {
                writer.write_bits(2, 3);
                write_packet_bytes(*packet_bytes, &mut writer);
                question.write(&mut writer);
            }
            Self::Classes(part) => {
                writer.write_bits(3, 3);
                part.write(&mut writer);
            }
            Self::Refused(mismatch) => {
                writer.write_bits(4, 3);
                mismatch.write(&mut writer);
            }
            Self::Closing(closing) => {
                writer.write_bits(5, 3);
                closing.write(&mut writer);
            }
            Self::TooSmall(mismatch) => {
                writer.write_bits(6, 3);
                mismatch.write(&mut writer);
            }
            Self::Retry(cookie) => {
                writer.write_bits(7, 3);
                writer.write_flag(true);
                writer.write_bits(*cookie, 64);
            }
            Self::Wait => {
                writer.write_bits(7, 3);
                writer.write_bits(0, 2);
            }
            Self::Probe(number) | Self::ProbeArrived(number) => {
                writer.write_bits(7, 3);
                writer.write_bits(0b10, 2);
                writer.write_flag(matches!(self, Self::ProbeArrived(_)));
                writer.write_bits((*number).into(), 16);
            }
        }
        pad(bytes, &mut writer);
        let salt = if matches!(self, Self::Hello(_)) { Salt::HELLO } else { Salt::control(session) };
        packet::seal(writer, salt)
    }

    /// Returns the packet that tells the other side why this side has ended the session. The packet has at
    /// most `mtu_bytes` bytes, so a text may be cut.
    pub(crate) fn closing(reason: &DisconnectReason, mtu_bytes: usize) -> Self {
        match reason {
            DisconnectReason::Layouts(mismatch) => Self::Refused(mismatch.clone()),
            DisconnectReason::Limits(mismatch) => Self::TooSmall(*mismatch),
            _ => Self::Closing(Closing::of(reason, mtu_bytes).unwrap_or(Closing::Closed)),
        }
    }

    /// Reads a packet that [`to_packet`](Self::to_packet) wrote. Before the call, the reader is at the first
    /// bit after the checksum and the kind.
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let control = match reader.read_bits(3)? {
            0 => Self::Hello(Hello::read(reader)?),
            1 => Self::Welcome(Welcome::read(reader)?),
            2 => Self::Differs(read_packet_bytes(reader)?, Question::read(reader)?),
            3 => Self::Classes(Part::read(reader)?),
            4 => Self::Refused(LayoutMismatch::read(reader)?),
            5 => Self::Closing(Closing::read(reader)?),
            6 => Self::TooSmall(LimitMismatch::read(reader)?),
            7 if reader.read_flag()? => Self::Retry(reader.read_bits(64)?),
            7 if !reader.read_flag()? => Self::Wait,
            7 if reader.read_flag()? => Self::ProbeArrived(reader.read_bits(16)? as u16),
            7 => Self::Probe(reader.read_bits(16)? as u16),
            _ => return Err(ReadError::UnknownVariant),
        };
        if matches!(control, Self::Hello(_) | Self::Classes(_) | Self::Probe(_)) {
            skip_padding(reader)?;
        }
        read_end(reader)?;
        Ok(control)
    }
}

impl Hello {
    /// Returns the token of the welcome that the client has received, or zero.
    pub(crate) fn token(&self) -> u64 {
        self.proof.as_ref().map_or(0, |proof| proof.token)
    }

    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(0, 3);
        writer.write_bits(self.session, 64);
        writer.write_bits(self.checksum, 64);
        self.limits.write(writer);
        writer.write_flag(self.proof.is_some());
        if let Some(proof) = &self.proof {
            writer.write_bits(proof.cookie, 64);
            writer.write_bits(proof.token, 64);
            write_login(&proof.login, writer);
        }
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let (session, checksum) = (reader.read_bits(64)?, reader.read_bits(64)?);
        let limits = ClientLimits::read(reader)?;
        let proof = if reader.read_flag()? {
            let (cookie, token) = (reader.read_bits(64)?, reader.read_bits(64)?);
            Some(Proof { cookie, token, login: read_login(reader)? })
        } else {
            None
        };
        Ok(Self { session, checksum, limits, proof })
    }
}

impl Welcome {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(1, 3);
        writer.write_bits(self.timeout_ms.into(), 32);
        writer.write_bits(self.token, 64);
        writer.write_bits(self.instance, 64);
        write_packet_bytes(self.packet_bytes, writer);
        write_login(&self.answer, writer);
        writer.write_flag(!self.seals_state);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        Ok(Self {
            timeout_ms: read_timeout(reader)?,
            token: reader.read_bits(64)?,
            instance: reader.read_bits(64)?,
            packet_bytes: read_packet_bytes(reader)?,
            answer: read_login(reader)?,
            seals_state: !reader.read_flag()?,
        })
    }
}

/// Answers a probe, unless many bytes already wait. The checksum of the answer includes `key`, which belongs
/// to the session.
pub(super) fn answer_probe(number: u16, key: u64, queue: &mut SendQueue) {
    if queue.waiting.bytes() < MOST_WAITING_BYTES {
        queue.push(&Control::ProbeArrived(number).to_packet(key));
    }
}

/// Pads a packet to `bytes`. The server may send back three times as many bytes, so a padded packet allows
/// the server to send state or a refusal (R26).
fn pad(bytes: usize, writer: &mut BitWriter) {
    let bits = bytes.saturating_mul(8);
    while writer.bit_len() < bits {
        writer.write_bits(0, bits.saturating_sub(writer.bit_len()).min(64) as u32);
    }
}

/// Skips the zero bytes that pad a hello, an answer or a probe, but not the zero bits that fill the last
/// byte.
fn skip_padding(reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    while reader.remaining() >= 8 {
        if reader.read_bits(8)? != 0 {
            return Err(ReadError::OutOfRange);
        }
    }
    Ok(())
}
