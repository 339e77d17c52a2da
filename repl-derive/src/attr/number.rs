//! Numbers in attributes. The derive checks literals. The compiler checks the user's constants when it
//! evaluates the table of the type.
//!
//! *Invariant:* the derive never evaluates an expression. It only reads literals with their sign.

use syn::{Expr, ExprLit, ExprRange, ExprUnary, Lit, UnOp};

/// A number: a literal, or another expression such as a constant of the user.
pub(crate) struct Number(pub(crate) Expr);

/// The lowest and the highest value of a range.
pub(crate) struct Bounds {
    pub(crate) whole: ExprRange,
    pub(crate) min: Number,
    pub(crate) max: Number,
}

impl Number {
    /// Returns the value of a number that is a literal.
    pub(crate) fn literal(&self) -> Option<f64> {
        match signed(&self.0)? {
            (sign, Lit::Int(lit)) => lit.base10_parse::<f64>().ok().map(|value| sign * value),
            (sign, Lit::Float(lit)) => lit.base10_parse::<f64>().ok().map(|value| sign * value),
            _ => None,
        }
    }

    /// Returns whether the number is a literal that is too large for every attribute.
    pub(crate) fn is_too_large(&self) -> bool {
        match signed(&self.0) {
            Some((_, Lit::Int(_))) => self.whole().is_none(),
            Some(_) => self.literal().is_some_and(|value| !value.is_finite()),
            None => false,
        }
    }

    /// Returns the value of a number that is a literal without a fraction.
    pub(crate) fn whole(&self) -> Option<i128> {
        match signed(&self.0)? {
            (sign, Lit::Int(lit)) => lit.base10_parse::<i128>().ok().map(|value| sign as i128 * value),
            _ => None,
        }
    }
}

/// Returns a literal and its sign.
fn signed(expr: &Expr) -> Option<(f64, &Lit)> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => Some((1.0, lit)),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => signed(expr).map(|(sign, lit)| (-sign, lit)),
        Expr::Paren(paren) => signed(&paren.expr),
        Expr::Group(group) => signed(&group.expr),
        _ => None,
    }
}
