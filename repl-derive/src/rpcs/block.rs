//! The input of `#[rpcs]` as a tree: an impl block and its calls, each with its parsed options.
//!
//! *Invariant:* this module does not check the meaning of options: every impl block has a [`Block`].

use std::mem::take;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, Ident, ImplItem, ItemImpl, Pat, Result, Signature, Token, Type, Visibility,
    parse_quote, parse2,
};

use crate::attr::{Kind, RpcAttrs, RpcsAttrs, is_replicated, is_rpc};
use crate::error::Errors;

pub(super) struct Block {
    pub(super) attrs: RpcsAttrs,
    /// The block without our attributes and without functions that have no body.
    pub(super) own: ItemImpl,
    pub(super) calls: Vec<Call>,
    /// The functions that have no body and are not calls.
    pub(super) incomplete: Vec<Signature>,
}

pub(super) struct Call {
    pub(super) attrs: RpcAttrs,
    /// The attributes of the function, as they are written.
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) signature: Signature,
    pub(super) has_body: bool,
    /// The first parameter, if it is `self` or a reference. Through this parameter the function accesses its
    /// object.
    pub(super) object: Option<FnArg>,
    pub(super) parameters: Vec<Parameter>,
}

pub(super) struct Parameter {
    pub(super) attributes: Vec<Attribute>,
    pub(super) pattern: Pat,
    pub(super) ty: Type,
}

struct Bodiless {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
}

impl Block {
    pub(super) fn read(arguments: TokenStream, mut own: ItemImpl, errors: &mut Errors) -> Self {
        let attrs = RpcsAttrs::parse(arguments, errors);
        let (mut calls, mut incomplete) = (Vec::new(), Vec::new());
        for mut item in take(&mut own.items) {
            match &mut item {
                ImplItem::Fn(function) => {
                    let (attributes, signature) = (function.attrs.clone(), function.sig.clone());
                    let call = Call::read(attributes, function.vis.clone(), signature, true, errors);
                    if call.is_some() {
                        remove_our_attributes(&mut function.attrs, &mut function.sig);
                    }
                    calls.extend(call);
                }
                ImplItem::Verbatim(tokens) => {
                    if let Ok(function) = parse2::<Bodiless>(tokens.clone()) {
                        let Bodiless { attributes, visibility, signature } = function;
                        match Call::read(attributes, visibility, signature.clone(), false, errors) {
                            Some(call) => calls.push(call),
                            None => incomplete.push(signature),
                        }
                        continue;
                    }
                }
                _ => {}
            }
            own.items.push(item);
        }
        allow_references_to_values(&mut own, &calls);
        Self { attrs, own, calls, incomplete }
    }

    /// Returns the name of the type, if the block is for a type with a name.
    pub(super) fn type_name(&self) -> Option<&Ident> {
        match &*self.own.self_ty {
            Type::Path(path) if path.qself.is_none() => path.path.segments.last().map(|last| &last.ident),
            _ => None,
        }
    }
}

impl Call {
    /// Reads a function. Returns `None` if the function is not a call.
    fn read(
        attributes: Vec<Attribute>,
        visibility: Visibility,
        signature: Signature,
        has_body: bool,
        errors: &mut Errors,
    ) -> Option<Self> {
        let attrs = RpcAttrs::parse(&attributes, errors)?;
        let (mut object, mut parameters) = (None, Vec::new());
        for (index, input) in signature.inputs.iter().enumerate() {
            match input {
                FnArg::Typed(typed) if index > 0 || !matches!(&*typed.ty, Type::Reference(_)) => {
                    let (pattern, ty) = ((*typed.pat).clone(), (*typed.ty).clone());
                    parameters.push(Parameter { attributes: typed.attrs.clone(), pattern, ty });
                }
                first => object = Some(first.clone()),
            }
        }
        Some(Self { attrs, attributes, visibility, signature, has_body, object, parameters })
    }

    pub(super) fn ident(&self) -> &Ident {
        &self.signature.ident
    }

    pub(super) fn wire_name(&self) -> String {
        match &self.attrs.name {
            Some(name) => name.value.value(),
            None => self.ident().unraw().to_string(),
        }
    }

    /// Returns where the call runs. For a call without a kind, which is a mistake, returns `Server`.
    pub(super) fn kind(&self) -> Kind {
        self.attrs.kinds.given().first().map_or(Kind::Server, |&(kind, _)| kind)
    }

    /// Returns the name of the variant for this call: the name of the function in upper camel case. Returns
    /// `None` if the result is not a valid name.
    pub(super) fn variant(&self) -> Option<Ident> {
        let name = self.ident().unraw().to_string();
        let words = name.split('_').map(|word| {
            let mut letters = word.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
        });
        let name: String = words.collect();
        let is_a_name = syn::parse_str::<Ident>(&name).is_ok();
        is_a_name.then(|| format_ident!("{}", name, span = self.ident().span()))
    }
}

impl Parameter {
    /// Returns the name of the parameter, if its pattern is a name.
    pub(super) fn ident(&self) -> Option<&Ident> {
        match &self.pattern {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(&name.ident),
            _ => None,
        }
    }

    /// Returns the attributes that decide how the parameter is sent.
    pub(super) fn replicated(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| is_replicated(attribute))
    }
}

impl Parse for Bodiless {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let function = Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
        };
        input.parse::<Token![;]>()?;
        Ok(function)
    }
}

/// Turns off clippy's lint about parameters such as `&String` in the validators of the block. A validator
/// takes each parameter as a reference to its type, so it cannot take `&str` for a `String`.
fn allow_references_to_values(own: &mut ItemImpl, calls: &[Call]) {
    let validators = || calls.iter().filter_map(|call| call.attrs.validate.as_ref()?.value.get_ident());
    for item in &mut own.items {
        if let ImplItem::Fn(function) = item
            && validators().any(|validator| *validator == function.sig.ident)
        {
            function.attrs.push(parse_quote!(#[allow(clippy::ptr_arg)]));
        }
    }
}

pub(super) fn remove_our_attributes(attributes: &mut Vec<Attribute>, signature: &mut Signature) {
    attributes.retain(|attribute| !is_rpc(attribute));
    for input in &mut signature.inputs {
        match input {
            FnArg::Typed(typed) => typed.attrs.retain(|attribute| !is_replicated(attribute)),
            FnArg::Receiver(receiver) => receiver.attrs.retain(|attribute| !is_replicated(attribute)),
        }
    }
}

pub(super) fn is_bodiless(item: &impl ToTokens) -> bool {
    parse2::<Bodiless>(item.to_token_stream()).is_ok()
}
