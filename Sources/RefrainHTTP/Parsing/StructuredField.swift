/// Structured fields (RFC 9651): lists, dictionaries and items with parameters.
///
/// Parsing is strict, as the RFC requires: one invalid character makes the whole field malformed, and parsing returns
/// `nil`.
package enum StructuredField {
    /// A value without its parameters (RFC 9651 §3.3).
    package enum BareItem: Hashable, Sendable {
        /// An integer of up to 15 digits.
        case integer(Int64)
        /// A decimal with up to 12 digits before the point and up to 3 after it.
        case decimal(Decimal)
        /// Printable ASCII text.
        case string(String)
        /// An unquoted identifier.
        case token(String)
        /// Bytes, encoded as Base64.
        case bytes([UInt8])
        /// `?1` or `?0`, which mean true and false.
        case boolean(Bool)
        /// Whole seconds since 1970-01-01T00:00:00Z.
        case date(Int64)
        /// Unicode text for display.
        case displayString(String)
    }

    /// A decimal number with exactly three places.
    package struct Decimal: Hashable, Sendable {
        /// The number times a thousand.
        package var thousandths: Int64

        /// Makes a decimal from its thousandths.
        package init(thousandths: Int64) { self.thousandths = thousandths }
    }

    /// The parameters of an item or of an inner list (RFC 9651 §3.1.2).
    package typealias Parameters = Members<BareItem>

    /// A value with its parameters (RFC 9651 §3.3).
    package struct Item: Hashable, Sendable {
        /// The value itself.
        package var value: BareItem
        /// The parameters.
        package var parameters: Parameters

        /// Makes an item.
        package init(_ value: BareItem, parameters: Parameters = Parameters()) {
            self.value = value
            self.parameters = parameters
        }
    }

    /// A list within a list or a dictionary (RFC 9651 §3.1.1).
    package struct InnerList: Hashable, Sendable {
        /// The items, in order.
        package var items: [Item]
        /// The parameters of the list as a whole.
        package var parameters: Parameters

        /// Makes an inner list.
        package init(_ items: [Item], parameters: Parameters = Parameters()) {
            self.items = items
            self.parameters = parameters
        }
    }

    /// A member of a list, or a value of a dictionary.
    package enum Member: Hashable, Sendable {
        /// A single value.
        case item(Item)
        /// Several values, in parentheses.
        case innerList(InnerList)
    }

    /// A dictionary (RFC 9651 §3.2).
    package typealias Dictionary = Members<Member>
}
