//! Whole values outside of objects: values that are sent as a unit, and keys of maps. All replicated fields
//! of a whole value are written in the order of declaration, without handles.
//!
//! Whole values are described by their shapes, not by a program, for two reasons. First, the attributes of a
//! field are known only when the field is written. Second, a program would need one command for each element
//! of a large fixed array.
//!
//! *Invariant:* a whole value has the same bits as a new element of an array. So a value that was written
//! with a program can be read with its shape, and a value that was written with its shape can be read with a
//! program.
#![expect(unsafe_code, reason = "walks whole values")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::bits::{BitReader, BitWriter, ReadError, WriteError, count};
use crate::ids::epoch::Epoch;
use crate::ids::identity::{Identity, ReadIds, WriteIds};
use crate::ids::label::Label;
use crate::ids::reference::ReferenceMap;
use crate::object::leaf;
use crate::schema::command::LeafCommand;
use crate::schema::contents::travels;
use crate::schema::erased::Collection;
use crate::schema::layout::least_bits;
use crate::schema::property::Property;
use crate::schema::shape::{ArrayShape, CollectionShape, EnumShape, Field, Formatted, Kind};
use crate::schema::step::ReceivedChange;
use crate::schema::value::{With, same_bits};

/// The number of elements by which an array grows before the first element is read.
const FIRST_GROWTH: usize = 8;

/// Writes `value` in the wire form that the attributes of `field` state.
///
/// # Errors
/// Returns an error if a part of the value has no wire form. After an error, the caller must drop the bits
/// that were written so far.
pub fn write<T: Property>(value: &T, field: &Field, writer: &mut BitWriter) -> Result<(), WriteError> {
    let property = Formatted { shape: T::SHAPE, ..field.formatted() };
    // SAFETY: the pointer points to a `T`, and the shape belongs to `T`.
    unsafe { write_shape(property, std::ptr::from_ref(value).cast(), writer) }
}

/// Reads a value in the wire form that the attributes of `field` state.
///
/// # Errors
/// Returns an error if the bits are not a value of this type.
pub fn read<T: Property>(
    field: &Field,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<T, ReadError> {
    let property = Formatted { shape: T::SHAPE, ..field.formatted() };
    let mut value = T::initial();
    // SAFETY: the pointer points to a `T`, and the shape belongs to `T`.
    unsafe { read_shape(property, reader, references, std::ptr::from_mut(&mut value).cast()) }?;
    Ok(value)
}

/// Returns whether the replicated parts of two values are the same.
#[inline]
pub fn identical<T: Property>(one: &T, other: &T) -> bool {
    if let (Some(one), Some(other)) = (bytes_of(one), bytes_of(other)) {
        return one == other;
    }
    let (one, other) = (std::ptr::from_ref(one).cast(), std::ptr::from_ref(other).cast());
    // SAFETY: both pointers point to a `T`, and the shape belongs to `T`.
    unsafe { identical_shape(T::SHAPE.native(), one, other) }
}

/// Returns the bytes of a value of a bitwise type (two values are the same if and only if their bytes are the
/// same). Returns `None` for other types.
#[inline]
fn bytes_of<T: Property>(value: &T) -> Option<&[u8]> {
    bytes_of_all(std::slice::from_ref(value))
}

/// Returns the bytes of values of a bitwise type. Returns `None` for other types.
#[inline]
pub(crate) fn bytes_of_all<T: Property>(values: &[T]) -> Option<&[u8]> {
    const { T::SHAPE.bitwise }.then(|| {
        // SAFETY: a bitwise shape guarantees that no byte of a value is padding, so all are initialised. The
        // length is the size of the slice in bytes, which the slice borrows.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
    })
}

/// Returns whether `with = module` writes the same bits for both values.
pub fn identical_with<T: 'static, W: With<T>>(one: &T, other: &T) -> bool {
    same_bits(|writer| W::write(one, writer), |writer| W::write(other, writer))
}

/// Calls `each` with each replicated part of a value and the offset of the part, in the order of declaration.
/// The parts of a value are leaves, arrays and collections.
fn each_part<E>(
    property: Formatted,
    offset: usize,
    each: &mut impl FnMut(Formatted, usize) -> Result<(), E>,
) -> Result<(), E> {
    match property.kind() {
        Kind::Struct(fields) => fields
            .iter()
            .try_for_each(|field| each_part(property.field(field), offset.wrapping_add(field.offset), each)),
        Kind::FixedArray { element, len } => (0..len).try_for_each(|index| {
            let within = index.wrapping_mul(element.size);
            each_part(property.element(element), offset.wrapping_add(within), each)
        }),
        Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) if !travels(property) => Ok(()),
        _ => each(property, offset),
    }
}

/// # Safety
/// `value` points to an aligned value of the property's shape.
unsafe fn write_shape(
    property: Formatted,
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    if let Some(codec) = property.plain_leaf() {
        // SAFETY: the caller guarantees the pointer, and the codec belongs to the shape.
        return unsafe { leaf::write_value(codec, value, writer) };
    }
    each_part(property, 0, &mut |part, offset| {
        // SAFETY: the part lies at its offset inside the value.
        let at = unsafe { value.add(offset) };
        // SAFETY: the pointer points to a value of the part's shape.
        unsafe { write_part(part, at, writer) }
    })
}

/// # Safety
/// `value` points to an aligned value of the property's shape.
unsafe fn write_part(
    property: Formatted,
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    match property.kind() {
        // SAFETY: the caller guarantees the pointer, and the codec belongs to the shape.
        Kind::Leaf(codec) => unsafe { leaf::write_value(&codec, value, writer) },
        Kind::Struct(_) | Kind::FixedArray { .. } => Ok(()),
        // SAFETY: `value` points to an enum of this shape.
        Kind::Enum(shape) => unsafe { write_variant(property, shape, value, writer) },
        Kind::Array(array) => {
            // SAFETY: the caller guarantees this.
            let (first, len) = unsafe { (array.parts)(value) };
            count::write_count(len, property.array_len(array), writer)?;
            let element = property.element(array.element);
            count::write_elements(0..len, least_bits(array, element), writer, |index, writer| {
                // SAFETY: the array returned its first element and its length, and `index` is below this
                // length.
                let at = unsafe { first.add(index.wrapping_mul(element.shape.size)) };
                // SAFETY: the pointer points to an element of the array.
                unsafe { write_shape(element, at, writer) }
            })
        }
        // SAFETY: `value` points to a collection of this shape.
        Kind::Items(items) => unsafe { write_erased(property, items, value, writer) },
        // SAFETY: as for the previous `unsafe` block.
        Kind::Entries(entries) => unsafe { write_erased(property, &entries.elements, value, writer) },
    }
}

/// # Safety
/// `value` points to an aligned enum of this shape.
unsafe fn write_variant(
    property: Formatted,
    shape: &EnumShape,
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    let active = unsafe { (shape.active)(value) };
    writer.write_below(active as u64, shape.variants.len() as u64);
    // SAFETY: the caller guarantees this.
    unsafe { each_field(property, shape, value) }.try_for_each(|(field, offset)| {
        // SAFETY: the field lies at its offset inside the value.
        let at = unsafe { value.add(offset) };
        // SAFETY: the pointer points to a value of the field's shape.
        unsafe { write_shape(field, at, writer) }
    })
}

/// Returns the sent fields of the active variant of an enum, with their offsets.
///
/// # Safety
/// `value` points to an aligned enum of this shape. The same variant is active while the fields are used.
unsafe fn each_field(
    property: Formatted,
    shape: &EnumShape,
    value: *const u8,
) -> impl Iterator<Item = (Formatted, usize)> {
    // SAFETY: the caller guarantees this.
    let active = unsafe { (shape.active)(value) };
    let fields = shape.variants.get(active).map_or(&[][..], |variant| variant.fields);
    fields.iter().enumerate().filter_map(move |(index, field)| {
        // SAFETY: the caller guarantees this.
        let offset = unsafe { (shape.offset)(value, index) }?;
        Some((property.field(field), offset))
    })
}

/// # Safety
/// `value` points to an aligned collection of this shape.
unsafe fn write_erased<I: Identity>(
    property: Formatted,
    shape: &CollectionShape<I>,
    value: *const u8,
    writer: &mut BitWriter,
) -> Result<(), WriteError> {
    // SAFETY: the caller guarantees this.
    let collection = unsafe { &*(shape.as_ref)(value) };
    let element = property.element(shape.element);
    let of = (&shape.form, property.collection_len(shape));
    write_collection(collection, of, writer, |value, writer| {
        // SAFETY: the collection returned an element, which has the shape that it states.
        unsafe { write_shape(element, value, writer) }
    })
}

/// Writes all elements of a collection in ascending order of their ids or keys. For each element, writes its
/// id or key, its label if the collection is ordered, and its value with `write`.
pub(super) fn write_collection<I: Identity>(
    collection: &dyn Collection<I>,
    (form, max_len): (&I::Form, u32),
    writer: &mut BitWriter,
    mut write: impl FnMut(*const u8, &mut BitWriter) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let elements = collection.elements_of_unit(Epoch::after(writer.epoch()))?;
    let (ids, values): (Vec<I>, Vec<*const u8>) = elements.into_iter().unzip();
    let max = max_len as usize;
    if ids.len() > max {
        return Err(WriteError::TooLong { len: ids.len(), max });
    }
    let (mut list, mut previous) = (I::list_of_all(&ids, max_len, writer)?, &Label::START);
    for (id, value) in ids.iter().zip(values) {
        let start = list.id(id, writer);
        id.name_assets(form, writer);
        if let Some(label) = collection.label(id) {
            label.write(previous, writer);
            previous = label;
        }
        let start = start.unwrap_or(writer.bit_len());
        count::write_element(start, count::LEAST_BITS, writer, |writer| write(value, writer))?;
    }
    list.end(writer);
    Ok(())
}

/// # Safety
/// `to` points to an aligned value of the property's shape and is valid for writes.
unsafe fn read_shape(
    property: Formatted,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    to: *mut u8,
) -> Result<(), ReadError> {
    if let Some(codec) = property.plain_leaf() {
        // SAFETY: the caller guarantees the pointer, and the codec belongs to the shape.
        return unsafe { leaf::read_value(codec, reader, references, to) };
    }
    each_part(property, 0, &mut |part, offset| {
        // SAFETY: the part lies at its offset inside the value.
        let at = unsafe { to.add(offset) };
        // SAFETY: the pointer points to a value of the part's shape.
        unsafe { read_part(part, reader, references, at) }
    })
}

/// # Safety
/// `to` points to an aligned value of the property's shape and is valid for writes.
unsafe fn read_part(
    property: Formatted,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    to: *mut u8,
) -> Result<(), ReadError> {
    match property.kind() {
        // SAFETY: the caller guarantees the pointer, and the codec belongs to the shape.
        Kind::Leaf(codec) => unsafe { leaf::read_value(&codec, reader, references, to) },
        Kind::Struct(_) | Kind::FixedArray { .. } => Ok(()),
        // SAFETY: `to` points to an enum of this shape and is valid for writes.
        Kind::Enum(shape) => unsafe { read_variant(property, shape, reader, references, to) },
        // SAFETY: `to` points to an array of this shape and is valid for writes.
        Kind::Array(array) => unsafe { read_array(property, array, reader, references, to) },
        // SAFETY: `to` points to a collection of this shape and is valid for writes.
        Kind::Items(items) => unsafe { read_collection(property, items, reader, references, to) },
        Kind::Entries(entries) => {
            // SAFETY: as for the previous `unsafe` block.
            unsafe { read_collection(property, &entries.elements, reader, references, to) }
        }
    }
}

/// # Safety
/// `to` points to an aligned enum of this shape and is valid for writes.
unsafe fn read_variant(
    property: Formatted,
    shape: &EnumShape,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    to: *mut u8,
) -> Result<(), ReadError> {
    let variant = reader.read_below(shape.variants.len() as u64)?;
    // SAFETY: the caller guarantees this.
    unsafe { (shape.array.resize)(to, variant as usize) };
    // SAFETY: the caller guarantees this, and reading a field does not make another variant active.
    unsafe { each_field(property, shape, to) }.try_for_each(|(field, offset)| {
        // SAFETY: the field lies at its offset inside the value.
        let at = unsafe { to.add(offset) };
        // SAFETY: the pointer points to a value of the field's shape and is valid for writes.
        unsafe { read_shape(field, reader, references, at) }
    })
}

/// # Safety
/// `to` points to an aligned collection of this shape and is valid for writes.
unsafe fn read_collection<I: Identity>(
    property: Formatted,
    shape: &CollectionShape<I>,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    to: *mut u8,
) -> Result<(), ReadError> {
    // SAFETY: the caller guarantees this.
    let collection = unsafe { &mut *(shape.as_mut)(to) };
    let (element, max_len) = (property.element(shape.element), property.collection_len(shape));
    let (mut list, mut label) = (I::read_list_of_all(&shape.form, max_len, reader)?, Label::START);
    while let Some(id) = list.next_again(reader)? {
        let (len, max) = (collection.len(), max_len as usize);
        if len >= max {
            return Err(ReadError::TooLong { len: len.saturating_add(1), max });
        }
        let is_ordered = I::is_ordered(&shape.form);
        if is_ordered {
            label = Label::read(&label, reader)?;
        }
        let start = list.began_at().unwrap_or(reader.position());
        let at = collection.insert_in_unit(&id, references)?;
        let mut read = |at| {
            count::read_element(start, count::LEAST_BITS, reader, |reader| {
                // SAFETY: the pointer points to an element of the stated shape and is valid for writes.
                unsafe { read_shape(element, reader, references, at) }
            })
        };
        match at {
            Some(at) => read(at)?,
            None => {
                let mut result = Ok(());
                (shape.with_initial)(&mut |scratch| result = read(scratch));
                result?;
            }
        }
        if is_ordered {
            collection.receive(&id, ReceivedChange::Moved(label.clone()), false);
        }
    }
    collection.conclude(false);
    Ok(())
}

/// Reads the number of elements of an array, and then the elements. The array grows while its elements are
/// read, so that a count that a peer claims does not decide how much memory is allocated.
///
/// # Safety
/// `to` points to an aligned array of the property's shape and is valid for writes.
unsafe fn read_array(
    property: Formatted,
    array: &ArrayShape,
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
    to: *mut u8,
) -> Result<(), ReadError> {
    let (element, mut read) = (property.element(array.element), 0_usize);
    let least_bits = least_bits(array, element);
    let len = count::read_new_count(property.array_len(array), least_bits, reader)?;
    loop {
        let ready = read.saturating_mul(2).max(FIRST_GROWTH).min(len);
        // SAFETY: the caller guarantees this.
        let first = unsafe { (array.resize)(to, ready) };
        for index in read..ready {
            // SAFETY: the array was just made long enough.
            let at = unsafe { first.add(index.wrapping_mul(element.shape.size)) };
            count::read_element(reader.position(), least_bits, reader, |reader| {
                // SAFETY: the pointer points to an element and is valid for writes.
                unsafe { read_shape(element, reader, references, at) }
            })?;
        }
        if ready == len {
            return Ok(());
        }
        read = ready;
    }
}

/// # Safety
/// Both pointers point to an aligned value of the property's shape.
unsafe fn identical_shape(property: Formatted, one: *const u8, other: *const u8) -> bool {
    let same = each_part(property, 0, &mut |part, offset| {
        // SAFETY: the part lies at its offset inside the value.
        let one = unsafe { one.add(offset) };
        // SAFETY: the same holds for the other value.
        let other = unsafe { other.add(offset) };
        // SAFETY: both pointers point to a value of the part's shape.
        if unsafe { identical_part(part, one, other) } { Ok(()) } else { Err(()) }
    });
    same.is_ok()
}

/// # Safety
/// Both pointers point to an aligned value of the property's shape.
unsafe fn identical_part(property: Formatted, one: *const u8, other: *const u8) -> bool {
    match property.kind() {
        Kind::Struct(_) | Kind::FixedArray { .. } => true,
        Kind::Leaf(codec) => {
            let bytes = if property.shape.bitwise { property.shape.size as u32 } else { 0 };
            let command = LeafCommand { codec, bytes, direct: None };
            // SAFETY: the caller guarantees the pointer, and the codec belongs to the shape.
            unsafe { leaf::identical(&command, one, other) }
        }
        // SAFETY: both pointers point to an enum of this shape.
        Kind::Enum(shape) => unsafe { identical_variants(property, shape, one, other) },
        Kind::Array(array) => {
            // SAFETY: the caller guarantees this.
            let (one, len) = unsafe { (array.parts)(one) };
            // SAFETY: the caller guarantees this.
            let (other, other_len) = unsafe { (array.parts)(other) };
            let element = property.element(array.element);
            len == other_len
                && (0..len).all(|index| {
                    let offset = index.wrapping_mul(element.shape.size);
                    // SAFETY: the arrays returned their first elements and their length, and `index` is below
                    // this length.
                    let one = unsafe { one.add(offset) };
                    // SAFETY: as for the previous `unsafe` block.
                    let other = unsafe { other.add(offset) };
                    // SAFETY: both pointers point to an element.
                    unsafe { identical_shape(element, one, other) }
                })
        }
        // SAFETY: both pointers point to a collection of this shape.
        Kind::Items(items) => unsafe { identical_collection(property, items, one, other) },
        // SAFETY: as for the previous `unsafe` block.
        Kind::Entries(entries) => unsafe { identical_collection(property, &entries.elements, one, other) },
    }
}

/// # Safety
/// Both pointers point to an aligned enum of this shape.
unsafe fn identical_variants(
    property: Formatted,
    shape: &EnumShape,
    one: *const u8,
    other: *const u8,
) -> bool {
    // SAFETY: the caller guarantees this.
    let active = unsafe { (shape.active)(one) };
    // SAFETY: the same holds for the other value.
    if active != unsafe { (shape.active)(other) } {
        return false;
    }
    // SAFETY: the caller guarantees this.
    unsafe { each_field(property, shape, one) }.all(|(field, offset)| {
        // SAFETY: the field lies at its offset inside the value.
        let one = unsafe { one.add(offset) };
        // SAFETY: the same variant of the other value is active, so the field has the same offset there.
        let other = unsafe { other.add(offset) };
        // SAFETY: both pointers point to a value of the field's shape.
        unsafe { identical_shape(field, one, other) }
    })
}

/// # Safety
/// Both pointers point to an aligned collection of this shape.
unsafe fn identical_collection<I: Identity>(
    property: Formatted,
    shape: &CollectionShape<I>,
    one: *const u8,
    other: *const u8,
) -> bool {
    // SAFETY: the caller guarantees this.
    let one = unsafe { &*(shape.as_ref)(one) };
    // SAFETY: the same holds for the other value.
    let other = unsafe { &*(shape.as_ref)(other) };
    let element = property.element(shape.element);
    one.is_same_whole(other, &mut |one, other| {
        // SAFETY: the collections returned elements, which have the shape that they state.
        unsafe { identical_shape(element, one, other) }
    })
}
