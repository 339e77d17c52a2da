//! How many bytes calls need in packets.

use super::room;
use crate::support::size;

#[test]
fn a_call_with_eight_bytes_takes_few_bytes_alone_and_fewer_beside_others() {
    let (mut room, heroes) = room(1);
    let mut sent = |calls: u64| {
        for number in 0..calls {
            room.guests[0].client.call(heroes[0]).report(u64::MAX - number).unwrap();
        }
        let packets = room.replies(0);
        room.hear(0, &packets);
        room.settle();
        size(&packets)
    };
    let (one, eleven) = (sent(1), sent(11));
    assert!(one <= 24, "{one} bytes alone");
    assert!(eleven - one <= 10 * 14, "{} bytes for ten more", eleven - one);
    assert_eq!((one, eleven - one), (20, 113), "known figures");
}
