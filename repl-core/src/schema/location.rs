//! Positions of objects: a type of positions implements [`Coordinates`], and a class whose objects have
//! positions implements [`Located`].
//!
//! *Invariant:* code that reads a position always receives three coordinates, for every type of positions.

use crate::schema::replicated::Replicated;

/// A type of positions: an array or a `glam` vector of two or three numbers, or a type of your own.
///
/// ```
/// # use repl_core as repl;
/// use repl::Coordinates;
///
/// struct Transform {
///     translation: [f32; 3],
///     rotation: [f32; 4],
/// }
///
/// impl Coordinates for Transform {
///     fn coordinates(&self) -> [f32; 3] {
///         self.translation
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position, because it does not implement `Coordinates`",
    label = "not a position",
    note = "positions are arrays of two or three numbers, `glam` vectors with the feature of their version (`glam` for 0.34, `glam-0-33` for 0.33), and types of your own that implement `repl::Coordinates`",
    note = "to compute positions from other fields, remove `location`, and pass a function to `ClassHandle::locate`"
)]
pub trait Coordinates {
    /// Whether all positions are in a plane. If so, the third coordinate is ignored, and the cells of an area
    /// are squares. Set it to true for your own type with two coordinates. Otherwise the cells are cubes, and
    /// a view contains several times as many cells.
    const IS_FLAT: bool = false;

    /// Returns the position, in the units of the areas of the server. A position in a plane has the third
    /// coordinate zero. A number that `f32` cannot represent is rounded.
    fn coordinates(&self) -> [f32; 3];
}

macro_rules! arrays {
    ($($number:ty)*) => {$(
        impl Coordinates for [$number; 2] {
            const IS_FLAT: bool = true;

            #[inline]
            fn coordinates(&self) -> [f32; 3] {
                let [x, y] = *self;
                [x as f32, y as f32, 0.0]
            }
        }

        impl Coordinates for [$number; 3] {
            #[inline]
            fn coordinates(&self) -> [f32; 3] {
                self.map(|coordinate| coordinate as f32)
            }
        }
    )*};
}

arrays! { f32 f64 i16 u16 i32 u32 }

/// A class whose objects have positions. `#[derive(Replicated)]` implements this trait if a field has
/// `#[replicated(location)]`, and `ClassHandle::set_area` uses it.
///
/// The position may depend only on replicated properties. A server calls `location` with a copy of the object
/// in which all other fields have their initial values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where its objects are",
    label = "no field has `location`",
    note = "write `#[replicated(location)]` on the field with the position",
    note = "to compute positions, pass a function to `ClassHandle::locate`"
)]
pub trait Located: Replicated {
    /// Whether all positions are in a plane: [`Coordinates::IS_FLAT`] of the field.
    const IS_FLAT: bool;

    /// Returns the position of the object.
    fn location(&self) -> [f32; 3];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_flat<C: Coordinates>(_: &C) -> bool {
        C::IS_FLAT
    }

    #[test]
    fn arrays_of_two_numbers_are_in_a_plane_and_of_three_in_space() {
        assert_eq!(([7_u16, 9].coordinates(), is_flat(&[7_u16, 9])), ([7.0, 9.0, 0.0], true));
        assert_eq!(([1.5_f32, -2.0].coordinates(), is_flat(&[1.5_f32, -2.0])), ([1.5, -2.0, 0.0], true));
        let point = [1.0_f64 / 3.0, -1e300, 4.0];
        assert_eq!((point.coordinates(), is_flat(&point)), ([1.0 / 3.0, f32::NEG_INFINITY, 4.0], false));
        assert_eq!([-3, 2, 1].coordinates(), [-3.0, 2.0, 1.0]);
    }
}
