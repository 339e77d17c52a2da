//! A generic object with bounds, defaults and a where clause. The macro adds the bounds that the fields need.

use repl::Replicated;

use crate::round_trip;

trait Weapon: Default + 'static {
    type Ammo;
}

#[derive(Default)]
struct Bow;

impl Weapon for Bow {
    type Ammo = u16;
}

#[derive(Replicated)]
struct Soldier<W: Weapon, T = u8, const N: usize = 4>
where
    W::Ammo: Copy,
    T: Default,
{
    #[replicated]
    ammo: W::Ammo,
    #[replicated(bits = 3)]
    orders: [T; N],
    #[replicated(max_len = 16, notify = on_log)]
    log: Vec<Option<T>>,
    #[replicated(with = count)]
    count: Count<T>,
    weapon: W,
    notified: bool,
}

#[derive(Clone, Default)]
struct Count<T>(Vec<T>);

mod count {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    use super::Count;

    pub const NAME: &str = "count";

    pub fn write<T>(value: &Count<T>, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(value.0.len() as u64, 8);
        Ok(())
    }

    pub fn read<T: Default>(
        reader: &mut BitReader<'_>,
        _: &mut ReferenceMap<'_>,
    ) -> Result<Count<T>, ReadError> {
        Ok(Count((0..reader.read_bits(8)?).map(|_| T::default()).collect()))
    }
}

impl<W: Weapon, T: Default, const N: usize> Default for Soldier<W, T, N>
where
    W::Ammo: Copy + Default,
{
    fn default() -> Self {
        Self {
            ammo: W::Ammo::default(),
            orders: std::array::from_fn(|_| T::default()),
            log: Vec::new(),
            count: Count(Vec::new()),
            weapon: W::default(),
            notified: false,
        }
    }
}

impl<W: Weapon, T: Default, const N: usize> Soldier<W, T, N>
where
    W::Ammo: Copy,
{
    fn on_log(&mut self, old: &Vec<Option<T>>) {
        self.notified = old.is_empty();
    }
}

#[test]
fn these_forms_are_accepted() {
    let mut soldier = Soldier::<Bow>::default();
    (soldier.ammo, soldier.orders, soldier.log) = (500, [1, 2, 3, 4], vec![None, Some(9)]);
    soldier.count.0 = vec![0; 3];
    let read = round_trip(&soldier);
    assert_eq!((read.ammo, read.orders, &read.log, read.count.0.len()), (500, [1, 2, 3, 4], &soldier.log, 3));
    Replicated::notify(&mut soldier, 2, &Soldier::default());
    assert!(soldier.notified);
    let Bow = soldier.weapon;
    assert_ne!(Soldier::<Bow, u8, 4>::LAYOUT.checksum(), Soldier::<Bow, u8, 5>::LAYOUT.checksum());
    assert_ne!(Soldier::<Bow, u8>::LAYOUT.checksum(), Soldier::<Bow, u16>::LAYOUT.checksum());
    Soldier::<Bow, i64, 7>::program();
}
