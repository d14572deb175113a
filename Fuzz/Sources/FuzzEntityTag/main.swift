// SPDX-License-Identifier: Apache-2.0
import FuzzSupport
import RefrainCore

@testable import RefrainHTTP

// The first line is the tag, the second one the date of modification, the third one the response's.
fuzz { start, count in
    let lines = lines(start, count)
    let tags = Array(lines.prefix(1))
    if let tag = EntityTag.parse(fieldValues: tags) {
        precondition(EntityTag.parse(fieldValues: [tag.fieldValue]) == tag, "cannot be written")
        precondition(tag.isWeaklyEqual(to: tag) && tag.isStronglyEqual(to: tag) != tag.isWeak, "not equal to itself")
    }
    let validator = StrongValidator.find(
        entityTag: tags.first?.isEmpty == true ? [] : tags,
        lastModified: Array(lines.dropFirst().prefix(1)),
        date: Array(lines.dropFirst(2)),
        wallClock: wallClock
    )
    precondition(validator?.fieldValue.hasPrefix("W/") != true, "a weak validator")
    return 0
}
