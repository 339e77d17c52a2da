//! Says what kind of file it is if the decoder cannot read it as a recording.
//!
//! *Invariant:* the kind depends only on the first bytes of a file and on the decoder's error.

use std::fmt;

use boxcars::{ParserBuilder, Replay};

/// First bytes of recordings and of other files that people pass by mistake, each with the name of the kind.
const BEGINNINGS: [(&[u8], &str); 10] = [
    (&[0x7f, 0xe2, 0xa2, 0x1c], "a recording of a game on Unreal Engine 4 or 5"),
    (b"PBDEMS2\0", "a recording of a game on Source 2"),
    (b"HL2DEMO\0", "a recording of a game on Source"),
    (b"MPQ\x1a", "an archive of Blizzard, as recordings of StarCraft II are"),
    (b"MPQ\x1b", "an archive of Blizzard, as recordings of StarCraft II are"),
    (b"RIOT", "a recording of League of Legends"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"{", "a text, perhaps JSON"),
    (b"#", "a text"),
];

/// The kind of a file.
#[derive(Debug, PartialEq)]
pub(crate) enum Kind {
    /// A recording of Rocket League that the decoder cannot read: its versions with the type of its match,
    /// and the decoder's error.
    RocketLeague(String, String),
    /// A file of another kind that begins with known bytes.
    Known(&'static str),
    /// An empty file.
    Empty,
    /// Anything else. The text says why the decoder cannot read its header.
    Unknown(String),
}

impl Kind {
    /// Returns the kind of a file that the decoder has refused with this error.
    pub(crate) fn of(file: &[u8], error: &dyn fmt::Display) -> Self {
        if let Some((_, kind)) = BEGINNINGS.iter().find(|(beginning, _)| file.starts_with(beginning)) {
            return Self::Known(kind);
        }
        if file.is_empty() {
            return Self::Empty;
        }
        match ParserBuilder::new(file).never_parse_network_data().parse() {
            Ok(replay) if replay.game_type.starts_with("TAGame.") => {
                Self::RocketLeague(version(&replay), error.to_string())
            }
            Ok(replay) => Self::Unknown(format!("its type is `{}`", replay.game_type)),
            Err(error) => Self::Unknown(format!("its header cannot be decoded: {error}")),
        }
    }
}

/// Says what a file is, and why it cannot be replicated.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ONLY: &str =
            "the decoder of this example reads only recordings of Rocket League, which end with .replay";
        match self {
            Self::RocketLeague(version, error) => write!(
                f,
                "it is a recording of Rocket League ({version}), but the decoder does not understand its network \
                 stream, so its actors and properties are not known: {error}"
            ),
            Self::Known(kind) => write!(f, "it is {kind}, and {ONLY}"),
            Self::Empty => write!(f, "it is empty"),
            Self::Unknown(why) => write!(f, "it is no recording of Rocket League, because {why}; {ONLY}"),
        }
    }
}

/// Returns the version of the game that recorded a match, and the type of the match.
pub(crate) fn version(replay: &Replay) -> String {
    let net = replay.net_version.map_or("none".to_owned(), |net| net.to_string());
    format!(
        "version {}.{}, net version {net}, {}",
        replay.major_version, replay.minor_version, replay.game_type
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &[u8]) -> Kind {
        Kind::of(file, &"an error")
    }

    #[test]
    fn files_of_other_games_are_named() {
        let unreal = of(&[0x7f, 0xe2, 0xa2, 0x1c, 6, 0, 0, 0]).to_string();
        assert!(
            unreal.contains("Unreal Engine 4 or 5") && unreal.contains("only recordings of Rocket League")
        );
        assert!(of(b"PBDEMS2\0....").to_string().contains("Source 2"));
        assert!(of(b"MPQ\x1b\0\0").to_string().contains("StarCraft II"));
    }

    #[test]
    fn files_that_are_no_recordings_are_refused_with_the_reason() {
        assert_eq!(of(b""), Kind::Empty);
        assert_eq!(of(b"# A page\n"), Kind::Known("a text"));
        for file in [&b"MZ\x90\0"[..], &[0; 64], &[0xff; 64]] {
            let text = of(file).to_string();
            assert!(
                text.contains("no recording of Rocket League, because its header cannot be decoded"),
                "{text}"
            );
        }
    }
}
