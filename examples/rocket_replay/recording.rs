//! A recorded match: the decoder's frames, and the size of the game's own network stream in the file.
//!
//! *Invariant:* all content of a frame is returned, in the order in which the decoder returns it.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use boxcars::{Attribute, Frame, ObjectId, ParserBuilder, Replay};

use crate::kind::{self, Kind};
use crate::model::Key;

/// A decoded file.
pub(crate) struct Recording {
    replay: Replay,
    /// The length of the recorded network stream, in bytes. The game needed these bytes for the data that
    /// this example replicates.
    pub(crate) stream_bytes: usize,
}

/// The change of one property of one actor in one frame.
pub(crate) struct Change<'a> {
    pub(crate) actor: i32,
    pub(crate) property: ObjectId,
    /// The new values in the order in which the frame contains them. Usually there is one value, but a frame
    /// can write a property several times.
    pub(crate) values: Vec<&'a Attribute>,
}

impl Recording {
    /// Reads and decodes a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or is no recording that the decoder understands.
    pub(crate) fn open(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let replay = ParserBuilder::new(&file)
            .must_parse_network_data()
            .parse()
            .map_err(|error| format!("cannot replicate {}: {}", path.display(), Kind::of(&file, &error)))?;
        if replay.network_frames.as_ref().is_none_or(|network| network.frames.is_empty()) {
            let version = kind::version(&replay);
            return Err(
                format!("cannot replicate {}: it has no network stream ({version})", path.display()).into()
            );
        }
        let stream_bytes = stream_bytes(&file).ok_or("the file ends before its network stream")?;
        Ok(Self { replay, stream_bytes })
    }

    /// Returns the frames, 30 per second.
    pub(crate) fn frames(&self) -> &[Frame] {
        self.replay.network_frames.as_ref().map_or(&[], |network| &network.frames)
    }

    /// Returns the name of an archetype or property.
    pub(crate) fn name(&self, object: ObjectId) -> &str {
        usize::try_from(object.0)
            .ok()
            .and_then(|index| self.replay.objects.get(index))
            .map_or("", String::as_str)
    }

    /// Returns the name and number of a property.
    pub(crate) fn key(&self, property: ObjectId) -> Key<'_> {
        Key { name: self.name(property), number: property.0 }
    }

    /// Returns the version of the game that recorded the match, and the type of the match.
    pub(crate) fn version(&self) -> String {
        kind::version(&self.replay)
    }

    /// Returns the version of the game's wire format.
    pub(crate) fn net_version(&self) -> i32 {
        self.replay.net_version.unwrap_or(0)
    }
}

/// Returns the changes of a frame, one for each actor and property, sorted by the position of the first
/// value.
pub(crate) fn changes(frame: &Frame) -> Vec<Change<'_>> {
    let mut changes: Vec<Change<'_>> = Vec::with_capacity(frame.updated_actors.len());
    let mut places = HashMap::new();
    for update in &frame.updated_actors {
        let place = *places.entry((update.actor_id, update.object_id)).or_insert_with(|| {
            changes.push(Change { actor: update.actor_id.0, property: update.object_id, values: Vec::new() });
            changes.len() - 1
        });
        changes[place].values.push(&update.attribute);
    }
    changes
}

/// Returns the length of the network stream, which stands in the file after the header, the level names and
/// the key frames.
fn stream_bytes(file: &[u8]) -> Option<usize> {
    const CHECKSUM_BYTES: usize = 4;
    const KEY_FRAME_BYTES: usize = 12;
    let mut at = 0;
    let header_bytes = usize::try_from(int(file, &mut at)?).ok()?;
    at = at.checked_add(CHECKSUM_BYTES)?.checked_add(header_bytes)?;
    int(file, &mut at)?;
    at = at.checked_add(CHECKSUM_BYTES)?;
    for _ in 0..int(file, &mut at)? {
        // A negative length counts UTF-16 units, which have two bytes.
        let length = int(file, &mut at)?;
        let unit_bytes = if length < 0 { 2 } else { 1 };
        at = at.checked_add(usize::try_from(length.unsigned_abs()).ok()?.checked_mul(unit_bytes)?)?;
    }
    let key_frames = usize::try_from(int(file, &mut at)?).ok()?;
    at = at.checked_add(key_frames.checked_mul(KEY_FRAME_BYTES)?)?;
    usize::try_from(int(file, &mut at)?).ok()
}

fn int(file: &[u8], at: &mut usize) -> Option<i32> {
    let bytes = file.get(*at..)?.first_chunk()?;
    *at += bytes.len();
    Some(i32::from_le_bytes(*bytes))
}
